import { ServiceError } from '#lib/errors.ts'

/** Formats the path of a manifest below `/api/v1` of another service. Throws `invalid` for a part that is empty, `.` or `..`. */
export const formatCatalogPath = (...parts: readonly string[]): string => {
  if (parts.some(part => /^\.{0,2}$/.test(part)))
    throw new ServiceError('invalid', 'The catalog id and the version must be names, and not dots.')
  return ['/catalog', ...parts.map(part => encodeURIComponent(part.toWellFormed()))].join('/')
}
