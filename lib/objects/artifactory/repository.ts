import * as z from 'zod'
import { parseSettings, type Storage } from '../port/connection.ts'
import { RepositorySettings } from '../port/provider-settings.ts'
import { ServiceError } from '#lib/errors.ts'
import { createOriginBoundFetch, retryRequests } from '../http/origin-bound-fetch.ts'
import { drain, readJson, replyError } from '../http/response.ts'
import type { Fetcher } from '../http/fetcher.ts'

/** Bytes of the description of a repository, which lists the members of its root folder. */
const maxProbeBytes = 16 * 1024 * 1024

/** One repository of a server, with the means to send requests to it. */
export interface Repository {
  /** Name and port of the server. */
  readonly host: string
  /** Whether it has Artifactory's own API; else it is a WebDAV server (RFC 4918). */
  readonly hasApi: boolean
  /** The URL of the object or folder at these segments of a path. */
  url(segments: readonly string[]): URL
  /** The URL of its description in the API. */
  apiUrl(segments: readonly string[], query?: string): URL
  /** Sends a request and retries transient errors. */
  readonly send: Fetcher
  /** For requests that must not be sent twice. */
  readonly sendWithoutRetry: Fetcher
}

/** The URL of the server; `/artifactory` is appended when it is missing. Throws `invalid`. */
const parseBaseUrl = (text: string): URL => {
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

const createAuthHeaders = ({ access_key, username, password }: RepositorySettings): Readonly<Record<string, string>> =>
  access_key
    ? { 'X-JFrog-Art-Api': access_key }
    : { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }

/** The description of a repository in the API of Artifactory. */
const repositoryInfo = z.object({ repo: z.string() })

/**
 * Opens the repository of a connection and detects whether the server is an Artifactory. Throws `invalid`, and `upstream` when
 * the server cannot be reached or refuses the credentials.
 */
export const openRepository = async (storage: Storage, fetcher: Fetcher): Promise<Repository> => {
  const settings = parseSettings(RepositorySettings, storage)
  const base = parseBaseUrl(settings.url)
  const repositoryPath = settings.repo.split('/').filter(segment => segment !== '')
  if (repositoryPath.length === 0 || repositoryPath.some(segment => segment === '.' || segment === '..'))
    throw new ServiceError('invalid', 'The repo of the artifactory is not the name of a repository.')
  const { host } = base
  const credentials = createAuthHeaders(settings)
  const sendWithoutRetry = createOriginBoundFetch(base, fetcher, () => credentials)
  const send = retryRequests(sendWithoutRetry)
  const createUrl = (prefix: readonly string[], segments: readonly string[], query = ''): URL => {
    const path = [...prefix, ...repositoryPath, ...segments].map(encodeURIComponent).join('/')
    return new URL(`${base.href}/${path}${query}`)
  }

  const detectApi = async (): Promise<boolean> => {
    const reply = await send({
      url: createUrl(['api', 'storage'], []),
      method: 'GET',
      headers: { Accept: 'application/json' },
    })
    if (reply.status === 401 || reply.status === 403) throw replyError(reply, 'what it is')
    if (reply.status === 200) return repositoryInfo.safeParse(await readJson(reply, maxProbeBytes)).success
    drain(reply)
    if (reply.status === 404 && /artifactory|jfrog/i.test(JSON.stringify(reply.headers)))
      throw new ServiceError(
        'upstream',
        `The storage ${host} has no repository ${repositoryPath.join('/')}, or does not show it.`,
      )
    return false
  }
  return {
    host,
    hasApi: await detectApi(),
    url: segments => createUrl([], segments),
    apiUrl: (segments, query) => createUrl(['api', 'storage'], segments, query),
    send,
    sendWithoutRetry,
  }
}
