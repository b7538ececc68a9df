import * as z from 'zod'
import type { Storage } from '#lib/catalog/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { createPeer, repeating } from './http/peer.ts'
import { discard, jsonOf, refused } from './http/reply.ts'
import type { Fetcher } from './http/send.ts'

/** The members of the repository's folder are in what says of it. */
const longest = 16 * 1024 * 1024

/** One repository of a server, and how to speak with it. */
export interface Site {
  /** Its name and port. */
  readonly host: string
  /** Whether it has Artifactory's own API; else it is a WebDAV server (RFC 4918). */
  readonly hasApi: boolean
  /** Of the object or folder at these segments of a path. */
  url(segments: readonly string[]): URL
  /** Of what the API says of it. */
  apiUrl(segments: readonly string[], query?: string): URL
  /** Sends a request, again and again while what is wrong may pass. */
  readonly send: Fetcher
  /** Sends a request that may not be done twice. */
  readonly sendOnce: Fetcher
}

/** The address of the service, which ends in `/artifactory`. Throws `invalid`. */
const baseOf = (text: string): URL => {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new ServiceError('invalid', 'The url of the artifactory is not an address that is reached by http or https.')
  if (url.username !== '' || url.password !== '')
    throw new ServiceError('invalid', 'The url of the artifactory has credentials: write username= and password=.')
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/artifactory') ? path : `${path}/artifactory`
  return url
}

const credentialsOf = ({ access_key, username, password }: Storage['meta']): Readonly<Record<string, string>> =>
  access_key
    ? { 'X-JFrog-Art-Api': access_key }
    : { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }

/** What Artifactory says of a repository. */
const repositoryInfo = z.object({ repo: z.string() })

/** Asks the server what it is. Throws `invalid`, and `upstream` when it cannot be asked or refuses the credentials. */
export const openSite = async ({ meta }: Storage, fetcher: Fetcher): Promise<Site> => {
  const base = baseOf(meta['url'] ?? '')
  const repository = (meta['repo'] ?? '').split('/').filter(segment => segment !== '')
  if (repository.length === 0 || repository.some(segment => segment === '.' || segment === '..'))
    throw new ServiceError('invalid', 'The repo of the artifactory is not the name of a repository.')
  const { host } = base
  const credentials = credentialsOf(meta)
  const sendOnce = createPeer(base, fetcher, () => credentials)
  const send = repeating(sendOnce)
  const at = (prefix: readonly string[], segments: readonly string[], query = ''): URL => {
    const path = [...prefix, ...repository, ...segments].map(encodeURIComponent).join('/')
    return new URL(`${base.href}/${path}${query}`)
  }

  const probe = async (): Promise<boolean> => {
    const reply = await send({
      url: at(['api', 'storage'], []),
      method: 'GET',
      headers: { Accept: 'application/json' },
    })
    if (reply.status === 401 || reply.status === 403) throw refused(reply, 'what it is')
    if (reply.status === 200) return repositoryInfo.safeParse(await jsonOf(reply, longest)).success
    discard(reply)
    if (reply.status === 404 && /artifactory|jfrog/i.test(JSON.stringify(reply.headers)))
      throw new ServiceError(
        'upstream',
        `The storage ${host} has no repository ${repository.join('/')}, or does not show it.`,
      )
    return false
  }
  return {
    host,
    hasApi: await probe(),
    url: segments => at([], segments),
    apiUrl: (segments, query) => at(['api', 'storage'], segments, query),
    send,
    sendOnce,
  }
}
