import { allowedOrigin } from '../../runtimes/runtime.ts'
import type { Case } from '../../case.ts'
import { matches } from '../../expectation.ts'
import { firstPlaces, paths, places } from './places.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const wrongMethods = paths.flatMap(({ pattern, path, methods: taken }): Case[] => {
  const wrong = methods.find(method => !taken.has(method))
  if (!wrong) return []
  const [first = ''] = taken
  return [
    {
      name: `${wrong} ${pattern}, which does not take it`,
      request: [wrong, path],
      status: 405,
      headers: { allow: matches(new RegExp(`\\b${first}\\b`)) },
    },
  ]
})

const preflights = paths.map(({ pattern, path, methods: taken }): Case => {
  const [first = ''] = taken
  return {
    name: `a preflight for ${pattern} from an allowed origin`,
    as: 'anonymous',
    request: ['OPTIONS', path, undefined, { origin: allowedOrigin, 'access-control-request-method': first }],
    status: 204,
    headers: {
      'access-control-allow-origin': allowedOrigin,
      'access-control-allow-methods': matches(new RegExp(`\\b${first}\\b`)),
    },
  }
})

const headsOfReads = firstPlaces
  .filter(({ endpoint }) => endpoint.effect === 'read' && !endpoint.params && endpoint.media !== 'websocket')
  .filter(({ method }) => method === 'GET')
  .map(({ id, path, pattern, endpoint }): Case => ({
    name: `HEAD ${pattern}`,
    request: ['HEAD', path],
    status: 200,
    ...(endpoint.hasETag && { headers: { etag: matches(/^"/) } }),
    ...(id === 'openapi/show' && { as: 'anonymous' }),
  }))

const headsOfChanges = places
  .filter(({ endpoint, method }) => endpoint.effect === 'change' && method === 'GET')
  .map(({ path, pattern }): Case => ({
    name: `HEAD ${pattern}, which would change something`,
    request: ['HEAD', path],
    status: 405,
  }))

const otherForms = firstPlaces
  .filter(({ endpoint }) => endpoint.access !== 'public' && endpoint.method === 'GET')
  .map(({ path, pattern }): Case => ({
    name: `GET ${pattern} with needless slashes is the same path`,
    as: 'anonymous',
    request: ['GET', `//api/${path}/`],
    status: path.startsWith('/v1/') ? 401 : 404,
  }))

/** What each path takes, in which form. */
export const methodCases: readonly Case[] = [
  ...wrongMethods,
  ...preflights,
  ...headsOfReads,
  ...headsOfChanges,
  ...otherForms,
]
