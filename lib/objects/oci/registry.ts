import type { RegistrySettings } from '../port/provider-settings.ts'
import { ServiceError } from '#lib/errors.ts'
import { followRedirects } from '../http/follow-redirects.ts'
import { createOriginBoundFetch, retryRequests } from '../http/origin-bound-fetch.ts'
import { drain, replyError } from '../http/response.ts'
import type { Fetcher, Reply } from '../http/fetcher.ts'
import { createAuthenticator } from './bearer-token.ts'

/** One repository of a registry (OCI distribution specification 1.1), with the means to send requests to it. */
export interface Registry {
  /** Name and port of the registry. */
  readonly host: string
  /** The URL of a resource of the repository: `manifests/…`, `blobs/…`, `tags/list`. */
  url(path: string): URL
  /** Sends a request and retries transient errors. */
  readonly send: Fetcher
  /** Sends a request without retries of transient errors; it authenticates when the registry asks for it. */
  readonly sendWithoutRetry: Fetcher
  /** Sends a request that reads; it retries, and follows redirects. */
  readonly read: Fetcher
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/** Parses the address of a registry: https, unless it is on this host or the connection says http. Throws `invalid`. */
const parseRegistryUrl = (text: string): URL => {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${loopback.test(text) ? 'http' : 'https'}://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new ServiceError('invalid', 'The registry is not an address like registry.example:5000.')
  if (url.username !== '' || url.password !== '')
    throw new ServiceError('invalid', 'The registry has credentials in it: write username= and password=.')
  return url
}

/** Checks the name of a repository by the rule of the specification. Throws `invalid`. */
export const parseRepositoryName = (text: string): string => {
  const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
  if (text.length > 255 || !new RegExp(`^${part}(?:/${part})*$`).test(text))
    throw new ServiceError(
      'invalid',
      'A repository is named by words of lower-case letters and digits, between slashes.',
    )
  return text
}

/** Opens the repository of a connection; nothing is sent yet. Throws `invalid`. */
export const openRegistry = (settings: RegistrySettings, fetcher: Fetcher): Registry => {
  const { username, password } = settings
  const base = parseRegistryUrl(settings.registry)
  const repository = parseRepositoryName(settings.repository)
  const signIn = createAuthenticator(base, { username, password }, createOriginBoundFetch(base, fetcher))
  let credentials: { readonly Authorization: string } | undefined
  let pendingSignIn: Promise<void> | undefined
  const request = createOriginBoundFetch(base, fetcher, () => credentials)

  /** Gets new credentials, once for all requests that wait. Does nothing when the credentials have changed since `used`. */
  const reauthenticate = (used: typeof credentials, reply: Reply): Promise<void> => {
    if (used !== credentials) return Promise.resolve()
    pendingSignIn ??= signIn(reply.headers['www-authenticate'])
      .then(Authorization => void (credentials = { Authorization }))
      .finally(() => void (pendingSignIn = undefined))
    return pendingSignIn
  }
  const sendWithoutRetry: Fetcher = async ask => {
    // One attempt more than needed: credentials that another request got meanwhile may lack a scope of this one.
    for (let attempt = 1; ; attempt += 1) {
      const used = credentials
      const reply = await request(ask)
      if (reply.status !== 401 || ask.url.origin !== base.origin) return reply
      if (attempt === 3) throw replyError(reply, 'a request')
      drain(reply)
      await reauthenticate(used, reply)
    }
  }
  const send = retryRequests(sendWithoutRetry)

  return {
    host: base.host,
    url: path => new URL(`/v2/${repository}/${path}`, base),
    send,
    sendWithoutRetry,
    read: followRedirects(send),
  }
}
