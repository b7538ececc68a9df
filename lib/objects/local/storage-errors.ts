import { ServiceError } from '#lib/errors.ts'

const getSystemErrorCode = (error: unknown): string | undefined => {
  const { code, errno }: { code?: unknown; errno?: unknown } = Object(error)
  return typeof code === 'string' && typeof errno === 'number' ? code : undefined
}

/** Translates an error of the operating system about the file of an object; other errors stay as they are. */
export const toStorageError = (path: string, error: unknown): unknown => {
  const code = getSystemErrorCode(error)
  if (code === undefined) return error
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ServiceError('no-space', `The disk of the catalog is full, so ${path} was not written.`, {
      cause: error,
    })
  if (code === 'ELOOP')
    return new ServiceError('forbidden', `${path} is a link that leads out of the catalog.`, { cause: error })
  return new ServiceError('upstream', `The folder of the catalog does not let ${path} be used: ${code}.`, {
    cause: error,
  })
}

/** Works on the file of an object. Throws `upstream`, `no-space` and `forbidden` for errors of the operating system. */
export const withStorageErrors = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw toStorageError(path, error)
  }
}
