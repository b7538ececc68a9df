/** Every endpoint's path stands below this one, but for those that others have fixed. */
export const prefix = '/api'

/** Where the path of a contract is served. */
export const servedPath = (path: string): string =>
  path.startsWith('/.well-known/') || path === '/metrics' ? path : prefix + path

/** The form of a request's path that routes are matched with: no doubled and no trailing slash. */
export const normalPath = (path: string): string =>
  path.includes('//') || (path.length > 1 && path.endsWith('/'))
    ? path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
    : path

/** `/v1/machines/{id}` as the router writes it: `/v1/machines/:id`. */
export const routerPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** A regular expression that a concrete path of this pattern matches. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+*?^$()[\]|\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`)
