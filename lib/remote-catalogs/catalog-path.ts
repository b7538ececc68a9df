import { ServiceError } from '#lib/errors.ts'

/** Where a manifest is on another service, below its `/api/v1`. Throws `invalid` for what would lead out of its catalog. */
export const formatCatalogPath = (...parts: readonly string[]): string => {
  if (parts.some(part => /^\.{0,2}$/.test(part)))
    throw new ServiceError('invalid', 'The catalog id and the version must be names, and not dots.')
  return ['/catalog', ...parts.map(part => encodeURIComponent(part.toWellFormed()))].join('/')
}
