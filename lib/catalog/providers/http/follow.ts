import { ServiceError } from '#lib/errors.ts'
import { discard } from './reply.ts'
import type { Fetcher, Reply } from './send.ts'

const most = 5
const redirects = new Set([301, 302, 303, 307, 308])

/** Where a reply sends to: never from https to http. Throws `upstream`. */
export const placeOf = ({ url, headers: { location } }: Reply): URL => {
  const sends = `The storage ${url.host} sends`
  const place = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined
  if (!place || !/^https?:$/.test(place.protocol) || place.username !== '' || place.password !== '')
    throw new ServiceError('upstream', `${sends} to what is no address.`)
  if (url.protocol === 'https:' && place.protocol === 'http:')
    throw new ServiceError('upstream', `${sends} from https to http, which is not followed.`)
  return place
}

/** The path of an address: what it escapes differs from server to server. */
const decoded = ({ pathname }: URL): string => {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}

/** Sends requests that read, and follows where they are sent. */
export const following =
  (fetcher: Fetcher): Fetcher =>
  async ask => {
    let { url } = ask
    for (let hop = 0; hop <= most; hop += 1) {
      const reply = await fetcher({ ...ask, url })
      if (!redirects.has(reply.status) || reply.headers.location === undefined) return reply
      const next = placeOf(reply)
      // Servers send from a folder's name to the same with a slash: that is for their caller to see.
      if (decoded(next) === `${decoded(url)}/`) return reply
      discard(reply)
      url = next
    }
    throw new ServiceError('upstream', `The storage ${ask.url.host} sends from place to place without end.`)
  }
