import type { Case } from '../../case.ts'
import { places } from './places.ts'

const needsCaller = places.filter(({ endpoint }) => endpoint.access !== 'public')

const withoutCredential = needsCaller.map(({ method, path, pattern }): Case => ({
  name: `${method} ${pattern} without a credential`,
  as: 'anonymous',
  request: [method, path],
  status: 401,
  reply: { code: 401, error: 'unauthorized_client' },
  headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' },
}))

const withForgedToken = needsCaller.map(({ method, path, pattern }): Case => ({
  name: `${method} ${pattern} with a forged token`,
  as: 'anonymous',
  request: [method, path, undefined, { authorization: 'Bearer a.b.c' }],
  status: 401,
  reply: { code: 401 },
}))

const withoutRight = needsCaller
  .filter(({ endpoint }) => typeof endpoint.access === 'object')
  .map(({ method, path, pattern }): Case => ({
    name: `${method} ${pattern} without the right to it`,
    as: 'stranger',
    request: [method, path],
    status: 403,
    reply: { code: 403 },
  }))

const preventedGets = places
  .filter(({ endpoint, method }) => endpoint.effect === 'change' && method === 'GET')
  .flatMap(({ method, path, pattern }): Case[] => [
    {
      name: `${method} ${pattern} by a browser that prefetches`,
      request: [method, path, undefined, { 'sec-purpose': 'prefetch' }],
      status: 403,
    },
    {
      name: `${method} ${pattern} by a page of another site`,
      request: [method, path, undefined, { origin: 'https://other.example.org' }],
      status: 403,
    },
  ])

/** Who is refused, for each endpoint. */
export const accessCases: readonly Case[] = [
  ...withoutCredential,
  ...withForgedToken,
  ...withoutRight,
  ...preventedGets,
]
