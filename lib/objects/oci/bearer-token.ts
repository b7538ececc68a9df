import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { isSuccess, readJson, replyError } from '../http/response.ts'
import type { Fetcher } from '../http/fetcher.ts'

/** The authentication that a registry asks for (RFC 9110 11.6.1). */
interface Challenge {
  readonly scheme: string
  readonly params: Readonly<Record<string, string>>
}

/** Parses the first challenge of a `WWW-Authenticate` header. */
export const parseChallenge = (header: string | undefined): Challenge | undefined => {
  const [, scheme, rest = ''] = /^\s*(\w+)\s*(.*)$/s.exec(header ?? '') ?? []
  if (scheme === undefined) return undefined
  const params = [...rest.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)].map(
    ([, key = '', quoted, plain = '']) => [key.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain] as const,
  )
  return { scheme: scheme.toLowerCase(), params: Object.fromEntries(params) }
}

const tokenReplySchema = z.object({ token: z.string().optional(), access_token: z.string().optional() })

const maxTokenReplyBytes = 256 * 1024

/** Whether credentials may be sent to the token service: not unencrypted, unless the registry itself is. */
const canSendCredentials = (realm: URL, registry: URL): boolean =>
  realm.username === '' &&
  (realm.protocol === 'https:' || (registry.protocol === 'http:' && realm.protocol === 'http:'))

/**
 * Gives a function that turns the challenge of a registry into the value of the `Authorization` header: user name and password
 * for `Basic`, for `Bearer` a token of the service that the challenge names. Each token has all scopes that were asked for so
 * far. The function throws `upstream`.
 */
export const createAuthenticator = (
  registry: URL,
  credentials: { readonly username?: string | undefined; readonly password?: string | undefined },
  send: Fetcher,
): ((header: string | undefined) => Promise<string>) => {
  const { username, password } = credentials
  const basic =
    username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`
  /** The actions of each resource. */
  const requestedActions = new Map<string, Set<string>>()

  const addScopes = (scope: string): readonly string[] => {
    for (const single of scope.split(' ').filter(Boolean)) {
      const at = single.lastIndexOf(':')
      const [resource, actions] = [single.slice(0, at), single.slice(at + 1).split(',')]
      requestedActions.set(resource, (requestedActions.get(resource) ?? new Set()).union(new Set(actions)))
    }
    return [...requestedActions].map(([resource, actions]) => `${resource}:${[...actions].sort().join(',')}`)
  }

  return async header => {
    const { scheme, params } = parseChallenge(header) ?? { scheme: 'none', params: {} }
    if (scheme === 'basic' && basic !== undefined) return basic
    if (scheme === 'basic')
      throw new ServiceError(
        'upstream',
        `The storage ${registry.host} asks for credentials: write username and password in the connection.`,
      )
    const realm = URL.parse(params['realm'] ?? '')
    if (scheme !== 'bearer' || !realm)
      throw new ServiceError(
        'upstream',
        `The storage ${registry.host} asks for credentials by a scheme that is not known: ${scheme}.`,
      )
    if (!canSendCredentials(realm, registry))
      throw new ServiceError(
        'upstream',
        `The storage ${registry.host} asks to send its credentials unprotected, which is not allowed.`,
      )
    if (params['service'] !== undefined) realm.searchParams.set('service', params['service'])
    for (const scope of addScopes(params['scope'] ?? '')) realm.searchParams.append('scope', scope)
    const headers = basic === undefined ? {} : { Authorization: basic }
    const reply = await send({ url: realm, method: 'GET', headers })
    if (!isSuccess(reply)) throw replyError(reply, 'a token')
    const read = tokenReplySchema.safeParse(await readJson(reply, maxTokenReplyBytes))
    const token = read.data?.token ?? read.data?.access_token
    if (!token) throw new ServiceError('upstream', `The storage ${registry.host} names a service that gives no token.`)
    return `Bearer ${token}`
  }
}
