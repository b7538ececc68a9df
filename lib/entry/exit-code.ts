import { toStatus } from '#lib/calls/statuses.ts'
import { VmhostError } from '#lib/client/error.ts'
import { ConfigError } from '#lib/compose/config-error.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { escapeControls } from './admin/text-table.ts'
import { UsageError } from './usage-error.ts'

/** What the exit codes of the program mean. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  unreachable: 5,
} as const

const fromStatus = (status: number): number => {
  if (status === 404) return exitCodes.notFound
  return status >= 400 && status < 500 ? exitCodes.refused : exitCodes.failed
}

/** True for an error of the operating system or SQLite, which the operator can solve. It is not a defect. */
const isOperatorError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_SQLITE_ERROR)$/.test(String(error.code))

/** True for a name that the typed client cannot put into a path: an empty one, or a dot segment, which would lead elsewhere. */
const isWrongName = (error: unknown): boolean =>
  error instanceof TypeError && /^params\.\w+ is missing/.test(error.message)

const escapeLines = (text: string): string => text.split('\n').map(escapeControls).join('\n')

/**
 * The message for what a command has thrown. The message of an expected error is enough; a defect needs its stack trace. Control
 * characters are escaped: a message can have names that somebody else has chosen.
 */
export const describeFailure = (error: unknown): string => {
  if (isWrongName(error)) return 'The names . and .. are not possible, and no name is empty.'
  // What a service says is one line.
  if (error instanceof VmhostError) return escapeControls(messageOf(error))
  const isExpected = [UsageError, ConfigError, ServiceError].some(expected => error instanceof expected)
  const isEnough = isExpected || isOperatorError(error) || !(error instanceof Error)
  return escapeLines(isEnough ? messageOf(error) : `${error.stack}`)
}

/** The exit code for what a command has thrown. What the command line itself finds invalid is wrong usage. */
export const toExitCode = (error: unknown): number => {
  if (error instanceof UsageError || error instanceof ConfigError || isFault(error, 'invalid') || isWrongName(error))
    return exitCodes.usage
  if (isFault(error, 'unavailable')) return exitCodes.unreachable
  if (error instanceof VmhostError) return fromStatus(error.status)
  return error instanceof ServiceError ? fromStatus(toStatus(error.fault)) : exitCodes.failed
}
