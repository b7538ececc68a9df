import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A viewer of a screen (RFC 6143) that has done its handshake. */
export interface RfbClient {
  readonly socket: WebSocket
  readonly width: number
  readonly height: number
  /** The bytes of the server so far. */
  size(): number
  /** Asks for the whole picture and returns the bytes of its pixels. */
  readPicture(): Promise<Buffer>
  /** Presses and releases a key; `keysym` is the code of a Latin-1 character. */
  type(character: string): void
  /** Resolves to the code and the reason with which the connection has closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

const keyEvent = (character: string, isDown: boolean): Buffer => {
  const message = Buffer.from([4, isDown ? 1 : 0, 0, 0, 0, 0, 0, 0])
  message.writeUInt32BE(character.codePointAt(0)!, 4)
  return message
}

const updateRequest = (width: number, height: number): Buffer => {
  const message = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  message.writeUInt16BE(width, 6)
  message.writeUInt16BE(height, 8)
  return message
}

/** SetEncodings with none but Raw, which every server has in any case. */
const rawOnly = Buffer.from([2, 0, 0, 1, 0, 0, 0, 0])

/** Opens a WebSocket to a screen and does the handshake; `isAlone` asks for no other viewers. Rejects with the status of a refusal. */
export const openRfbClient = async (url: string, isAlone = false): Promise<RfbClient> => {
  const socket = new WebSocket(url, ['binary'])
  let received = Buffer.alloc(0)
  let size = 0
  const arrivals = new EventTarget()
  socket.on('message', (data: Buffer) => {
    received = Buffer.concat([received, data])
    size += data.length
    arrivals.dispatchEvent(new Event('bytes'))
  })
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
    socket.once('error', reject)
  })
  const read = async (length: number): Promise<Buffer> => {
    while (received.length < length) {
      const bytes = new Promise(resolve => arrivals.addEventListener('bytes', resolve, { once: true }))
      const end = await Promise.race([bytes.then(() => undefined), closed])
      if (end && received.length < length) throw new Error(`closed with ${end.code}: ${end.reason}`)
    }
    const bytes = received.subarray(0, length)
    received = received.subarray(length)
    return bytes
  }
  socket.send(await read(12))
  await read((await read(1))[0]!)
  socket.send(Buffer.from([1]))
  await read(4)
  socket.send(Buffer.from([isAlone ? 0 : 1]))
  const start = await read(24)
  await read(start.readUInt32BE(20))
  const [width, height, bytesPerPixel] = [start.readUInt16BE(0), start.readUInt16BE(2), start[4]! / 8]
  socket.send(rawOnly)
  return {
    socket,
    width,
    height,
    size: () => size,
    async readPicture() {
      socket.send(updateRequest(width, height))
      const update = await read(4)
      const parts: Buffer[] = []
      for (let left = update.readUInt16BE(2); left > 0; left -= 1) {
        const rectangle = await read(12)
        parts.push(await read(rectangle.readUInt16BE(4) * rectangle.readUInt16BE(6) * bytesPerPixel))
      }
      return Buffer.concat(parts)
    },
    type(character) {
      socket.send(keyEvent(character, true))
      socket.send(keyEvent(character, false))
    },
    closed,
  }
}
