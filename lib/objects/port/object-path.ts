import { ServiceError } from '#lib/errors.ts'

/** Prefix of names that are not objects: unfinished writes. */
export const hiddenPrefix = '.vmhost-'

/** The same prefix for servers that do not list names with a leading dot, as nginx. */
export const listedHiddenPrefix = '~vmhost-'

/** Whether a path is a valid path of an object. */
export const isObjectPath = (path: string): boolean => {
  const bad = path
    .split('/')
    .some(
      segment =>
        segment === '' ||
        segment === '.' ||
        segment === '..' ||
        segment.startsWith(hiddenPrefix) ||
        segment.startsWith(listedHiddenPrefix) ||
        /[\\\p{Cc}]/u.test(segment) ||
        Buffer.byteLength(segment) > 255,
    )
  return !bad && path.length <= 1024
}

/** Splits the path of an object into its segments. Throws `invalid` for a path that cannot name an object. */
export const splitObjectPath = (path: string): readonly string[] => {
  if (!isObjectPath(path)) throw new ServiceError('invalid', `${JSON.stringify(path)} cannot name an object.`)
  return path.split('/')
}
