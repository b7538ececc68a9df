import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { messageOf } from '#lib/errors.ts'

/** A tunnel that is open. */
export interface OpenTunnel {
  /** Ends both sides. The reason has at most 123 bytes. */
  close(code: number, reason: string): void
  /** Sends a sign of life, so that nothing in between takes an idle tunnel for a dead one. */
  ping(): void
}

/** Bytes that may wait for the client, beside those in the buffers of the system. */
const maxBufferedBytes = 1 << 20
/** Milliseconds that the other side has to end after the first one has ended. */
const endTimeout = 5_000

/**
 * Passes bytes between a WebSocket and a connection to a guest, as binary messages, until one of both ends. The side that gives
 * waits while the other one takes nothing, so that no more than a little memory is needed. `filter` returns what the guest gets of
 * the bytes of the client; when it throws, the connection ends with its message.
 */
export const relay = (
  socket: WebSocket,
  guest: Duplex,
  filter: (bytes: Uint8Array) => Uint8Array = bytes => bytes,
): OpenTunnel => {
  const close = (code: number, reason: string): void => {
    socket.close(code, reason)
    guest.end()
    setTimeout(() => {
      socket.terminate()
      guest.destroy()
    }, endTimeout).unref()
  }
  guest.on('data', (chunk: Buffer) => {
    socket.send(chunk, { binary: true }, () => {
      if (guest.isPaused() && socket.bufferedAmount < maxBufferedBytes) guest.resume()
    })
    if (socket.bufferedAmount >= maxBufferedBytes) guest.pause()
  })
  guest.on('drain', () => socket.resume())
  guest.on('error', () => guest.destroy())
  guest.once('end', () => close(1000, 'The guest closed the connection.'))
  guest.once('close', () => close(1001, 'The connection to the guest ended.'))

  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return close(1003, 'This connection takes binary messages.')
    if (guest.writableEnded) return
    try {
      if (!guest.write(filter(data))) socket.pause()
    } catch (error) {
      close(1008, messageOf(error))
    }
  })
  socket.on('error', () => socket.terminate())
  socket.once('close', () => close(1000, ''))
  return { close, ping: () => socket.ping() }
}
