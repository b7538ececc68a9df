import { createTimeLimit } from '#lib/async/time-limit.ts'
import { ServiceError } from '#lib/errors.ts'
import { runInGuest } from '#lib/hypervisor/agent/guest-command.ts'
import { describePosixProgram } from '#lib/hypervisor/agent/guest-program.ts'
import type { Guest } from './enter-guest.ts'

/** Milliseconds of a script. */
const timeLimit = 30_000
const outputLimit = 1_000

/** The exit codes of scripts that check a path, and the errors that follow from them. */
const findings = {
  11: (path: string) => new ServiceError('not-found', `The guest has no ${path}, or no folder for it.`),
  12: (path: string) => new ServiceError('conflict', `${path} is a folder of the guest, not a file.`),
  13: (path: string) => new ServiceError('conflict', `${path} is a device or a pipe of the guest, not a file.`),
} as const

const isFinding = (code: number): code is keyof typeof findings => code in findings

/**
 * Runs a short script in a POSIX guest with a path as $1 and further arguments. Throws `not-found` and `conflict` for what it finds
 * out about the path, and `upstream` if it fails otherwise.
 */
export const runGuestScript = async (
  { agent, name }: Guest,
  script: string,
  [path, ...args]: readonly [path: string, ...args: string[]],
  signal?: AbortSignal,
): Promise<void> => {
  using limit = createTimeLimit(timeLimit, `${name} did not come to an end with ${path}.`, signal)
  const program = describePosixProgram({ command: ['/bin/sh', '-c', script, 'sh', path, ...args] })
  const { exitCode, stderr, wasKilled } = await runInGuest(agent, program, { outputLimit, signal: limit.signal })
  if (wasKilled) limit.signal.throwIfAborted()
  if (exitCode === 0) return
  if (exitCode !== undefined && isFinding(exitCode)) throw findings[exitCode](path)
  const reason = stderr.bytes.toString().replace(/\p{C}/gu, ' ').trim()
  throw new ServiceError('upstream', `${name} refused ${path}: ${reason || `exit code ${exitCode}`}.`)
}
