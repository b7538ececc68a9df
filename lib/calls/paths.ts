/** The prefix of every endpoint's path, except for paths that a standard fixes. */
export const prefix = '/api'

/** The path at which the path of a contract is served. */
export const servedPath = (path: string): string =>
  path.startsWith('/.well-known/') || path === '/metrics' ? path : prefix + path

/** Normalizes a request's path for routing: no doubled and no trailing slashes. */
export const normalPath = (path: string): string =>
  path.includes('//') || (path.length > 1 && path.endsWith('/'))
    ? path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
    : path

/** Converts `/v1/machines/{id}` to the router's syntax `/v1/machines/:id`. */
export const routerPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Converts a path with parameters to a regular expression that matches concrete paths. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+*?^$()[\]|\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`)
