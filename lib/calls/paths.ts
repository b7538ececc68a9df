import { ServiceError } from '#lib/errors.ts'

/** The prefix of every endpoint's path, except for paths that a standard fixes. */
export const pathPrefix = '/api'

/** The path at which the path of a contract is served. */
export const toServedPath = (path: string): string =>
  path.startsWith('/.well-known/') || path === '/metrics' ? path : pathPrefix + path

/** Normalizes a request's path for routing: no doubled and no trailing slashes. */
export const normalizePath = (path: string): string =>
  path.includes('//') || (path.length > 1 && path.endsWith('/'))
    ? path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
    : path

/**
 * Encodes a value as one segment of a path. Throws `invalid` for `.` and `..`: however they are encoded, every reader of the
 * address would leave them out, and the path would be another one.
 */
export const encodeSegment = (value: string): string => {
  if (value === '.' || value === '..')
    throw new ServiceError('invalid', `Nothing can be named ${value}, which is a part of a path.`)
  return encodeURIComponent(value.toWellFormed())
}

/** Converts `/v1/machines/{id}` to the router's syntax `/v1/machines/:id`. */
export const toRouterPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Converts a path with parameters to a regular expression that matches concrete paths. */
export const toPathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+*?^$()[\]|\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`)
