import { createTimeLimit } from '#lib/async/time-limit.ts'
import { ServiceError } from '#lib/errors.ts'
import { type GuestOutcome, runInGuest } from '#lib/hypervisor/agent/guest-command.ts'
import { describePosixProgram, type GuestProgram } from '#lib/hypervisor/agent/guest-program.ts'
import type { Guest } from './enter-guest.ts'
import type { ExecuteInMachine, ExecuteResult } from './execute-schemas.ts'

/** Describes the program of a request for a Windows guest. Throws `unsupported` for what its agent cannot do. */
const describeWindowsProgram = (request: ExecuteInMachine, input: Buffer | undefined): GuestProgram => {
  const { command, args } = request
  const impossible = (['environment_variables', 'user', 'working_directory'] as const).find(
    name => request[name] !== undefined,
  )
  if (impossible)
    throw new ServiceError('unsupported', `${impossible} is unsupported for a guest with Windows; leave it out.`)
  return {
    system: 'windows',
    path: args ? command : 'cmd.exe',
    args: args ?? ['/c', command],
    input,
  }
}

const describeProgram = (request: ExecuteInMachine, { system }: Guest): GuestProgram => {
  const { command, args, environment_variables: environment, user, working_directory: folder, use_sudo } = request
  if (use_sudo && user !== undefined)
    throw new ServiceError('invalid', 'use_sudo and user exclude each other: the command runs as one user.')
  const input = request.input === undefined ? undefined : Buffer.from(request.input)
  if (system === 'windows') return describeWindowsProgram(request, input)
  return describePosixProgram({
    command: args ? [command, ...args] : ['/bin/sh', '-c', command],
    folder,
    user,
    environment,
    input,
  })
}

const toResult = (
  { stdout, stderr, exitCode, signal, wasKilled }: GuestOutcome,
  { timeout }: ExecuteInMachine,
): ExecuteResult => {
  const code = wasKilled ? -1 : (exitCode ?? 128 + (signal ?? 0))
  const error = wasKilled
    ? `The command did not end within ${timeout} seconds and was killed.`
    : signal !== undefined
      ? `The command was ended by the signal ${signal}.`
      : `The command ended with the exit code ${code}.`
  return {
    stdout: stdout.bytes.toString(),
    stderr: stderr.bytes.toString(),
    exit_code: code,
    ...(signal !== undefined && { signal }),
    stdout_truncated: stdout.isTruncated,
    stderr_truncated: stderr.isTruncated,
    timed_out: wasKilled,
    ...(code !== 0 && { error }),
  }
}

/**
 * Runs a command in a guest. Returns how it has ended, also if that is a failure or the end of its time. When the signal is
 * aborted, the command is killed, and this throws the reason. Throws as the agent.
 */
export const executeInGuest = async (
  guest: Guest,
  request: ExecuteInMachine,
  signal: AbortSignal | undefined,
): Promise<ExecuteResult> => {
  const { timeout, max_output: outputLimit } = request
  using limit = createTimeLimit(timeout * 1000, `The command did not end within ${timeout} seconds.`, signal)
  const outcome = await runInGuest(guest.agent, describeProgram(request, guest), { outputLimit, signal: limit.signal })
  if (outcome.wasKilled) signal?.throwIfAborted()
  return toResult(outcome, request)
}
