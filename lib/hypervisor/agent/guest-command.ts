import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { abortable } from '#lib/async/abortable.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Agent } from './agent.ts'
import { type GuestProgram, describeKill } from './guest-program.ts'

/** How a program in the guest has ended, with what it has written. */
export interface GuestOutcome {
  readonly stdout: GuestOutput
  readonly stderr: GuestOutput
  /** Undefined for a program that a signal has ended. */
  readonly exitCode?: number | undefined
  readonly signal?: number | undefined
  /** True if it was killed because the caller's signal was aborted. */
  readonly wasKilled: boolean
}

/** One output of a program: its first bytes. */
export interface GuestOutput {
  readonly bytes: Buffer
  /** True if the program has written more. */
  readonly isTruncated: boolean
}

interface RunOptions {
  /** The most bytes of each output that are kept. */
  readonly outputLimit: number
  /** When it is aborted, the program is killed with all that it has started. */
  readonly signal: AbortSignal
}

const Started = z.object({ pid: z.int().nonnegative() })
const Status = z.object({
  exited: z.boolean(),
  exitcode: z.int().optional(),
  signal: z.int().optional(),
  'out-data': z.string().optional(),
  'err-data': z.string().optional(),
  'out-truncated': z.boolean().optional(),
  'err-truncated': z.boolean().optional(),
})
type Status = z.infer<typeof Status>

/** Milliseconds between two questions whether a program has ended: the first wait and the longest. */
const pollDelays = [10, 1_000] as const
/** Milliseconds in which a killed program must end. */
const killTimeLimit = 10_000

const decode = (data: string | undefined, isTruncated: boolean | undefined, limit: number): GuestOutput => {
  const bytes = Buffer.from(data ?? '', 'base64')
  return { bytes: bytes.subarray(0, limit), isTruncated: isTruncated === true || bytes.length > limit }
}

/** Asks until the program has ended. Throws as the agent, and the reason of the signal. */
const waitForEnd = async (agent: Agent, pid: number, { outputLimit, signal }: RunOptions): Promise<GuestOutcome> => {
  // One byte more than the limit tells that there is more. Base64 has four characters for three bytes.
  const textLimit = Math.ceil((outputLimit + 1) / 3) * 4
  const ask = (): Promise<Status> =>
    agent.execute('guest-exec-status', { arguments: { pid }, reply: Status, textLimit, signal })
  for (let delay: number = pollDelays[0]; ; delay = Math.min(1.5 * delay, pollDelays[1])) {
    const status = await ask().catch((error: unknown) => {
      // A machine that is paused for a while does not answer. An agent refuses this while its guest is frozen for a copy of the
      // disks. The program ends later.
      if ((isFault(error, 'timeout') || isFault(error, 'unsupported')) && !signal.aborted) return undefined
      throw error
    })
    if (status?.exited)
      return {
        stdout: decode(status['out-data'], status['out-truncated'], outputLimit),
        stderr: decode(status['err-data'], status['err-truncated'], outputLimit),
        exitCode: status.exitcode,
        signal: status.signal,
        wasKilled: false,
      }
    await abortable(wait(delay, undefined, { ref: false }), signal)
  }
}

/** Kills a program with all that it has started, and returns its outcome. Throws if it does not end. */
const kill = async (agent: Agent, pid: number, program: GuestProgram, outputLimit: number): Promise<GuestOutcome> => {
  const { path, args } = describeKill(program.system, pid)
  await agent.execute('guest-exec', { arguments: { path, arg: args }, reply: Started })
  const outcome = await waitForEnd(agent, pid, { outputLimit, signal: AbortSignal.timeout(killTimeLimit) })
  return { ...outcome, wasKilled: true }
}

/**
 * Runs a program in the guest until it ends. Throws as the agent: `upstream` if the program cannot be started. Throws `timeout` if
 * the program was to be killed and its end is not confirmed.
 */
export const runInGuest = async (
  agent: Agent,
  program: GuestProgram,
  { outputLimit, signal }: RunOptions,
): Promise<GuestOutcome> => {
  const { path, args, environment, input } = program
  // Not aborted by the signal: without its id, a program that has started could not be killed.
  const { pid } = await agent.execute('guest-exec', {
    arguments: {
      path,
      arg: args,
      'capture-output': true,
      ...(environment && { env: environment }),
      ...(input !== undefined && { 'input-data': input.toString('base64') }),
    },
    reply: Started,
  })
  try {
    return await waitForEnd(agent, pid, { outputLimit, signal })
  } catch (error) {
    if (!signal.aborted) throw error
    return kill(agent, pid, program, outputLimit).catch((failure: unknown) => {
      throw new ServiceError(
        'timeout',
        `A program in the guest was to be ended, and its end is not confirmed. It may go on; its process id is ${pid}.`,
        { cause: failure },
      )
    })
  }
}
