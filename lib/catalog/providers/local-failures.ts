import { ServiceError } from '#lib/errors.ts'

const codeOf = (error: unknown): string | undefined => {
  const { code, errno } = Object(error) as { code?: unknown; errno?: unknown }
  return typeof code === 'string' && typeof errno === 'number' ? code : undefined
}

/** What it means when the operating system refuses to work on the file of an object; anything else as it is. */
export const localFailure = (path: string, error: unknown): unknown => {
  const code = codeOf(error)
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

/** Does something with the file of an object. Throws `upstream`, `no-space` and `forbidden` for what the system refuses. */
export const withLocal = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw localFailure(path, error)
  }
}
