import { ServiceError } from '#lib/errors.ts'

/** Begins the names of what is not an object: unfinished writes. */
export const hidden = '.vmhost-'

/** The same on servers that do not list what begins with a dot, as nginx. */
export const hiddenListed = '~vmhost-'

/** Whether a path can name an object. */
export const isObjectPath = (path: string): boolean => {
  const bad = path
    .split('/')
    .some(
      segment =>
        segment === '' ||
        segment === '.' ||
        segment === '..' ||
        segment.startsWith(hidden) ||
        segment.startsWith(hiddenListed) ||
        /[\\\p{Cc}]/u.test(segment) ||
        Buffer.byteLength(segment) > 255,
    )
  return !bad && path.length <= 1024
}

/** The segments of an object's path, checked. Throws `invalid`. */
export const segmentsOf = (path: string): readonly string[] => {
  if (!isObjectPath(path)) throw new ServiceError('invalid', `${JSON.stringify(path)} cannot name an object.`)
  return path.split('/')
}
