import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { isDone, jsonOf, refused } from '../http/reply.ts'
import type { Fetcher } from '../http/send.ts'

/** What a registry asks for (RFC 9110 11.6.1). */
interface Challenge {
  readonly scheme: string
  readonly values: Readonly<Record<string, string>>
}

/** The first challenge of a `WWW-Authenticate` header. */
export const challengeOf = (header: string | undefined): Challenge | undefined => {
  const [, scheme, rest = ''] = /^\s*(\w+)\s*(.*)$/s.exec(header ?? '') ?? []
  if (scheme === undefined) return undefined
  const values = [...rest.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)].map(
    ([, key = '', quoted, plain = '']) => [key.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain] as const,
  )
  return { scheme: scheme.toLowerCase(), values: Object.fromEntries(values) }
}

const reply = z.object({ token: z.string().optional(), access_token: z.string().optional() })

const longest = 256 * 1024

/** Whether credentials may be shown to the service that gives tokens: only it, and nobody on the way, may see them. */
const mayAsk = (realm: URL, registry: URL): boolean =>
  realm.username === '' &&
  (realm.protocol === 'https:' || (registry.protocol === 'http:' && realm.protocol === 'http:'))

/**
 * What a registry's requests have to carry after it has asked for it: of `Basic` the user's name and password, of
 * `Bearer` a token of the service that it names. Rights that were asked for once are asked for again with each token.
 */
export const createSignIn = (
  registry: URL,
  credentials: { readonly username?: string | undefined; readonly password?: string | undefined },
  send: Fetcher,
): ((header: string | undefined) => Promise<string>) => {
  const { username, password } = credentials
  const basic =
    username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`
  /** Of each resource the actions. */
  const rights = new Map<string, Set<string>>()

  const scopes = (scope: string): readonly string[] => {
    for (const one of scope.split(' ').filter(Boolean)) {
      const at = one.lastIndexOf(':')
      const [resource, actions] = [one.slice(0, at), one.slice(at + 1).split(',')]
      rights.set(resource, (rights.get(resource) ?? new Set()).union(new Set(actions)))
    }
    return [...rights].map(([resource, actions]) => `${resource}:${[...actions].sort().join(',')}`)
  }

  return async header => {
    const { scheme, values } = challengeOf(header) ?? { scheme: 'none', values: {} }
    if (scheme === 'basic' && basic !== undefined) return basic
    if (scheme === 'basic')
      throw new ServiceError(
        'upstream',
        `The storage ${registry.host} asks for credentials: write username and password in the connection.`,
      )
    const realm = URL.canParse(values['realm'] ?? '') ? new URL(values['realm']!) : undefined
    if (scheme !== 'bearer' || !realm)
      throw new ServiceError(
        'upstream',
        `The storage ${registry.host} asks for credentials in a way that is not known: ${scheme}.`,
      )
    if (!mayAsk(realm, registry))
      throw new ServiceError(
        'upstream',
        `The storage ${registry.host} wants its credentials to be sent unprotected, which is not done.`,
      )
    if (values['service'] !== undefined) realm.searchParams.set('service', values['service'])
    for (const scope of scopes(values['scope'] ?? '')) realm.searchParams.append('scope', scope)
    const headers = basic === undefined ? {} : { Authorization: basic }
    const answer = await send({ url: realm, method: 'GET', headers })
    if (!isDone(answer)) throw refused(answer, 'a token')
    const read = reply.safeParse(await jsonOf(answer, longest))
    const token = read.data?.token ?? read.data?.access_token
    if (!token) throw new ServiceError('upstream', `The storage ${registry.host} names a service that gives no token.`)
    return `Bearer ${token}`
  }
}
