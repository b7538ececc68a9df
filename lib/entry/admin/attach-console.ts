import { setTimeout as wait } from 'node:timers/promises'
import { VmhostError } from '#lib/client/error.ts'
import { isFault } from '#lib/errors.ts'
import { type ConsoleConnection, type ConsoleMessage, connectConsole } from './console-connection.ts'
import { toMachinePath } from './machine-path.ts'
import type { ServiceTarget } from './service-target.ts'

interface Options {
  readonly target: ServiceTarget
  /** Name or id of the machine. */
  readonly machine: string
  /** Undefined to read only. */
  readonly writer: 'claim' | 'take-over' | undefined
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WritableStream
  /** Shows a line of the command itself. */
  readonly show: (line: string) => void
}

/** Ctrl-], with which a user leaves. */
const leaveKey = 0x1d
/** Bytes of earlier output that are shown first. */
const replay = 64 * 1024
/** Milliseconds between two attempts to connect again. */
const retryInterval = 250

/** Whether the service may be there again soon. */
const mayRetry = (error: unknown): boolean =>
  isFault(error, 'unavailable') || (error instanceof VmhostError && error.status === 503)

/**
 * Connects a terminal, or a pipe, to the console of a machine until its user leaves or the input ends. If the connection ends, it
 * connects again and goes on where the output has ended. Throws what the service refuses.
 */
export const attachConsole = async ({ target, machine, writer, input, output, show }: Options): Promise<void> => {
  let connection: ConsoleConnection | undefined
  /** The offset of the next byte, and the end of the output when the connection was opened. */
  let [next, end]: [number | undefined, number] = [undefined, 0]
  let claim = writer
  let unsent: Buffer[] = []
  let isLeaving = false
  /** True from the end of a connection to the next one, which is told once. */
  let isLost = false
  const left = Promise.withResolvers<void>()

  /** Sends what was typed while there was no connection. Who leaves has seen the output so far. */
  const flush = (): void => {
    if (!connection || next === undefined) return
    for (const bytes of unsent.splice(0)) if (claim) connection.send(bytes)
    if (isLeaving && next >= end) connection.close()
  }
  const leave = (): void => {
    isLeaving = true
    left.resolve()
    flush()
  }
  const onOutput = (bytes: Buffer): void => {
    next = (next ?? 0) + bytes.length
    output.write(bytes)
    if (isLeaving) flush()
  }
  const onMessage = (message: ConsoleMessage): void => {
    const { offset, gap, taken_over_by: other, error } = message
    end = message.end ?? end
    next = offset ?? (next ?? 0) + (gap?.length ?? 0)
    if (gap) show(`${gap.length} bytes of output are not kept any more.`)
    if (other !== undefined) {
      claim = undefined
      show(`${other} has taken over. You only read from now on.`)
    }
    if (error !== undefined) show(error)
    flush()
  }
  const onInput = (bytes: Buffer): void => {
    const at = bytes.indexOf(leaveKey)
    unsent.push(at < 0 ? bytes : bytes.subarray(0, at))
    if (at >= 0) leave()
    else flush()
  }
  /** Connects, and resolves when the connection has ended. */
  const connectOnce = async (): Promise<void> => {
    const path = toMachinePath(machine, 'console', { offset: String(next ?? -replay), ...(claim && { writer: claim }) })
    try {
      connection = await connectConsole({ target, path, onOutput, onMessage })
      isLost = false
      // The service may take the connection that was lost for a writer that is still there.
      if (claim) claim = 'take-over'
      flush()
      await connection.ended
    } catch (error) {
      // Before the first connection a missing service is an error. Later it is one that is started again.
      if (next === undefined || !mayRetry(error)) throw error
    } finally {
      connection = undefined
    }
  }

  await using terminal = new AsyncDisposableStack()
  if (input.isTTY) {
    input.setRawMode(true)
    terminal.defer(() => void input.setRawMode(false))
  }
  terminal.defer(() => void input.pause())
  show(`Connecting to ${machine}. Ctrl-] leaves.`)
  input.on('data', onInput)
  input.once('end', leave)
  for (;;) {
    await connectOnce()
    if (isLeaving) return
    if (!isLost) show('The connection has ended; connecting again.')
    isLost = true
    await Promise.race([wait(retryInterval), left.promise])
    if (isLeaving) return
  }
}
