import { ServiceError } from '#lib/errors.ts'
import type { ObjectStat, WriteOptions } from './provider.ts'

/** The error of a write whose object has changed since the caller read it. */
export const createPreconditionError = (path: string): ServiceError =>
  new ServiceError('precondition-failed', `${path} on the storage was changed meanwhile.`)

/** Throws `precondition-failed` when the stored object is not the one that the write replaces. */
export const checkVersion = (
  path: string,
  found: Pick<ObjectStat, 'version'> | undefined,
  { replaces }: WriteOptions,
): void => {
  if (replaces !== undefined && (found?.version ?? null) !== replaces) throw createPreconditionError(path)
}
