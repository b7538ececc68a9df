import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { openWebSocket } from './open-web-socket.ts'
import type { ServiceTarget } from './service-target.ts'

/** A JSON message of a console (see docs/console.md). */
const Message = z.object({
  offset: z.int().optional(),
  end: z.int().optional(),
  gap: z.object({ length: z.int() }).optional(),
  taken_over_by: z.string().optional(),
  error: z.string().optional(),
})
export type ConsoleMessage = z.infer<typeof Message>

interface Options {
  readonly target: ServiceTarget
  /** The path of the console below `/api/v1`, with its query. */
  readonly path: string
  readonly onOutput: (bytes: Buffer) => void
  readonly onMessage: (message: ConsoleMessage) => void
}

/** An open console. */
export interface ConsoleConnection {
  send(bytes: Buffer): void
  close(): void
  /** Resolves when the connection has ended. Throws `forbidden` with the reason if the service has ended it. */
  readonly ended: Promise<void>
}

/** Close codes of a connection that the service has ended for good (RFC 6455, 7.4.1). */
const finalCodes: ReadonlySet<number> = new Set([1003, 1008])

/** Opens a console. Throws what the service refuses, and `unavailable` if it cannot be reached. */
export const connectConsole = async ({ target, path, onOutput, onMessage }: Options): Promise<ConsoleConnection> => {
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {})
  const socket = openWebSocket(target, path, opened.reject)
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) onOutput(data)
    else onMessage(Message.parse(JSON.parse(data.toString())))
  })
  socket.once('open', opened.resolve)
  socket.on('close', (code, reason) =>
    finalCodes.has(code) ? ended.reject(new ServiceError('forbidden', reason.toString())) : ended.resolve(),
  )
  await opened.promise
  return { send: bytes => socket.send(bytes), close: () => socket.close(1000), ended: ended.promise }
}
