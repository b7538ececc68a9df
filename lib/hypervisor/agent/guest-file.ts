import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Agent } from './agent.ts'

/** An open file of a guest. It must be closed: the agent keeps it open otherwise. */
export interface GuestFile extends AsyncDisposable {
  /** Reads the next bytes; an empty buffer at the end of the file. */
  read(signal: AbortSignal): Promise<Buffer>
  /** Writes all bytes after those written before. */
  write(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** Returns the size of the file, and sets its position back to the beginning. */
  measure(signal: AbortSignal): Promise<number>
  /** Writes what is written so far to the disk of the guest. */
  flush(signal: AbortSignal): Promise<void>
}

/** Bytes of one read. */
const readSize = 256 * 1024
/** Bytes of one write. The time that the agent needs for it grows faster than its size. */
const writeSize = 64 * 1024
/** Milliseconds for one read or write: the disk of a busy guest is slow. */
const timeLimit = 60_000

const Handle = z.int()
const ReadReply = z.object({ count: z.int().nonnegative(), 'buf-b64': z.string().optional(), eof: z.boolean() })
const WriteReply = z.object({ count: z.int().nonnegative() })
const SeekReply = z.object({ position: z.int().nonnegative() })

/** Opens a file of the guest. Throws as the agent: `upstream` with the error of the guest. */
export const openGuestFile = async (
  agent: Agent,
  path: string,
  mode: 'rb' | 'wb',
  signal: AbortSignal,
): Promise<GuestFile> => {
  // Not aborted by the signal: a file that was opened and is not known here would stay open.
  signal.throwIfAborted()
  const handle = await agent.execute('guest-file-open', { arguments: { path, mode }, reply: Handle, timeLimit })
  const seek = (offset: number, whence: 'set' | 'end', signal: AbortSignal) =>
    agent.execute('guest-file-seek', { arguments: { handle, offset, whence }, reply: SeekReply, timeLimit, signal })
  return {
    async read(signal) {
      const reply = await agent.execute('guest-file-read', {
        arguments: { handle, count: readSize },
        reply: ReadReply,
        textLimit: 2 * readSize,
        timeLimit,
        signal,
      })
      const bytes = Buffer.from(reply['buf-b64'] ?? '', 'base64')
      if (bytes.length !== reply.count || bytes.length > readSize || (bytes.length === 0 && !reply.eof))
        throw new ServiceError('upstream', `The guest agent sent other bytes of ${path} than its reply says.`)
      return bytes
    },
    async write(bytes, signal) {
      for (let at = 0; at < bytes.length;) {
        const part = Buffer.from(bytes.subarray(at, at + writeSize))
        const args = { handle, 'buf-b64': part.toString('base64') }
        const { count } = await agent.execute('guest-file-write', {
          arguments: args,
          reply: WriteReply,
          timeLimit,
          signal,
        })
        if (count === 0 || count > part.length)
          throw new ServiceError('upstream', `The guest agent did not write to ${path}.`)
        at += count
      }
    },
    async measure(signal) {
      const { position } = await seek(0, 'end', signal)
      await seek(0, 'set', signal)
      return position
    },
    async flush(signal) {
      await agent.execute('guest-file-flush', { arguments: { handle }, reply: z.unknown(), timeLimit, signal })
    },
    async [Symbol.asyncDispose]() {
      await agent
        .execute('guest-file-close', { arguments: { handle }, reply: z.unknown(), timeLimit })
        .catch(() => undefined)
    },
  }
}
