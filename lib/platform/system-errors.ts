import { messageOf } from '#lib/errors.ts'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is nothing at that path',
  ENOTDIR: 'a part of that path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'the user of the service may not open it',
  EPERM: 'the user of the service may not open it',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
}

/** Why the operating system refuses a path, in words; for any other error its own message. */
export const describeSystemError = (error: unknown): string =>
  (error instanceof Error && 'code' in error && reasons[String(error.code)]) || messageOf(error)
