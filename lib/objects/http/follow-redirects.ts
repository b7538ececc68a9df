import { ServiceError } from '#lib/errors.ts'
import { drain } from './response.ts'
import type { Fetcher, Reply } from './fetcher.ts'

const maxRedirects = 5
const redirectStatuses = new Set([301, 302, 303, 307, 308])

/** Gives the target of a redirect. Throws `upstream` for an invalid one and for one from https to http. */
export const getRedirectTarget = ({ url, headers: { location } }: Reply): URL => {
  const prefix = `The storage ${url.host} redirects`
  const target = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined
  if (!target || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '')
    throw new ServiceError('upstream', `${prefix} to an invalid address.`)
  if (url.protocol === 'https:' && target.protocol === 'http:')
    throw new ServiceError('upstream', `${prefix} from https to http, which is not followed.`)
  return target
}

/** The decoded path of a URL, for comparisons: servers escape different characters. */
const decodePath = ({ pathname }: URL): string => {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}

/**
 * Gives a fetcher that follows redirects. Only for requests that read. Throws `upstream` after too many redirects.
 */
export const followRedirects =
  (fetcher: Fetcher): Fetcher =>
  async ask => {
    let { url } = ask
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const reply = await fetcher({ ...ask, url })
      if (!redirectStatuses.has(reply.status) || reply.headers.location === undefined) return reply
      const next = getRedirectTarget(reply)
      // Servers redirect from a folder to the same name with a slash. The caller has to see that it is a folder.
      if (decodePath(next) === `${decodePath(url)}/`) return reply
      drain(reply)
      url = next
    }
    throw new ServiceError('upstream', `The storage ${ask.url.host} redirects without end.`)
  }
