import type { WebSocket } from 'ws'
import { messageOf } from '#lib/errors.ts'
import { readSerialOutput, type SerialOutput } from '#lib/hypervisor/files/serial-output.ts'
import type { OpenTunnel } from '../tunnels/relay.ts'
import type { Feed } from './feeds.ts'
import type { Writer } from './writers.ts'

interface Session {
  /** The machine's folder. */
  readonly home: string
  /** The first byte that the client wants; a negative one counts from the end. */
  readonly offset: number
  readonly writer: Writer | undefined
  /** Opens the feed of the output. */
  readonly openFeed: (onOutput: () => void) => Promise<Feed>
  /** Sets what is called when another connection has become the writer. */
  readonly onLost: (listener: (username: string) => void) => void
}

/** Bytes of a message, and bytes that may wait for a client, beside those in the buffers of the system. */
const [messageSize, maxBufferedBytes] = [64 * 1024, 1 << 20]
/** Messages of a client that may wait for the guest. */
const maxWaitingInputs = 64
/** Milliseconds that the client has to answer the end of the connection. */
const endTimeout = 5_000

/**
 * Serves a console over a WebSocket: binary messages are bytes of the serial line, text messages are JSON about them. A client that
 * reads slowly is sent the log later, so that it needs no memory and delays nobody.
 */
export const serveConsole = (socket: WebSocket, { home, offset, writer, openFeed, onLost }: Session): OpenTunnel => {
  let feed: Feed | undefined
  let position = 0
  let isSending = false
  let isWriter = writer !== undefined
  let waitingInputs = 0

  const tell = (message: object): void => socket.send(JSON.stringify(message))
  const close = (code: number, reason: string): void => {
    socket.close(code, reason)
    setTimeout(() => socket.terminate(), endTimeout).unref()
  }
  const isOpen = (): boolean => socket.readyState === socket.OPEN
  /** The output from the position on, up to the end of the feed: from memory if it is new, else from the log. */
  const readNext = (): Promise<SerialOutput> | Pick<SerialOutput, 'bytes' | 'offset'> => {
    const { bytes, offset: first } = feed!.latest()
    return position >= first && position < first + bytes.length
      ? { bytes: bytes.subarray(position - first), offset: position }
      : readSerialOutput(home, position, Math.min(messageSize, feed!.end() - position))
  }
  const send = ({ bytes, offset: first }: Pick<SerialOutput, 'bytes' | 'offset'>): void => {
    if (first > position) tell({ gap: { offset: position, length: first - position } })
    position = first + bytes.length
    if (bytes.length > 0) socket.send(bytes, { binary: true }, () => void sendNew())
  }
  /** Sends what there is, as far as the client takes it. */
  const sendNew = async (): Promise<void> => {
    if (isSending || !feed) return
    isSending = true
    try {
      // A QEMU of an older version writes its log itself, and the service truncates it.
      if (position > feed.end()) tell({ offset: (position = feed.end()) })
      while (isOpen() && position < feed.end() && socket.bufferedAmount < maxBufferedBytes) {
        const next = readNext()
        send(next instanceof Promise ? await next : next)
      }
    } catch (error) {
      close(1011, messageOf(error).slice(0, 100))
    } finally {
      isSending = false
    }
  }
  const start = async (): Promise<void> => {
    const first = offset < 0 ? (await readSerialOutput(home, offset, 0)).offset : offset
    const opened = await openFeed(() => void sendNew())
    if (!isOpen()) return opened[Symbol.dispose]()
    position = Math.min(first, opened.end())
    tell({ offset: position, end: opened.end(), writer: isWriter })
    feed = opened
    await sendNew()
  }
  const onInput = async (bytes: Buffer): Promise<void> => {
    if (!writer || !isWriter)
      return tell({ error: 'This connection only reads. Open one with writer=claim or writer=take-over to write.' })
    waitingInputs += 1
    if (waitingInputs >= maxWaitingInputs) socket.pause()
    await writer.write(bytes).catch((error: unknown) => tell({ error: messageOf(error), length: bytes.length }))
    waitingInputs -= 1
    if (socket.isPaused) socket.resume()
  }

  onLost(username => {
    isWriter = false
    if (isOpen()) tell({ writer: false, taken_over_by: username })
  })
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) void onInput(data)
    else close(1003, 'A console takes binary messages.')
  })
  socket.on('error', () => socket.terminate())
  socket.once('close', () => {
    feed?.[Symbol.dispose]()
    feed = undefined
  })
  start().catch((error: unknown) => close(1011, messageOf(error).slice(0, 100)))
  return { close, ping: () => socket.ping() }
}
