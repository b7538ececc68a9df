import { lookup } from 'node:dns/promises'
import { ServiceError } from '#lib/errors.ts'
import { createMayReach } from '#lib/platform/outgoing-addresses.ts'
import { discard } from './reply.ts'
import type { Call, Reply, Send } from './request.ts'

const most = 5
const redirects = new Set([301, 302, 303, 307, 308])

/** Anywhere but where clouds hand credentials to whoever asks. */
const mayReach = createMayReach(['0.0.0.0/0', '::/0'])

/** Where a server sends to: never from https to http. Throws `upstream`. */
export const placeOf = (name: string, from: URL, location: string | null): URL => {
  const place = location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined
  if (!place || !/^https?:$/.test(place.protocol) || place.username !== '' || place.password !== '')
    throw new ServiceError('upstream', `${name} sends to what is no address.`)
  if (from.protocol === 'https:' && place.protocol === 'http:')
    throw new ServiceError('upstream', `${name} sends from https to http, which is not followed.`)
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

const checkReachable = async (name: string, { hostname }: URL): Promise<void> => {
  // A name that is not found is refused by the request itself.
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => [])
  if (addresses.some(({ address }) => !mayReach(address)))
    throw new ServiceError('upstream', `${name} sends to an address that nobody may be sent to.`)
}

/** Sends a request that reads, and follows where it is sent: to another origin without the credentials. */
export const follow = async (name: string, send: Send, url: URL, call: Call): Promise<Reply> => {
  let place = url
  for (let hop = 0; hop <= most; hop += 1) {
    const ours = place.origin === url.origin
    const reply = await send(place, ours ? call : { ...call, credentials: undefined })
    const location = reply.headers.get('location')
    // Servers send from a folder's name to the same with a slash: that is for their caller to see.
    if (!redirects.has(reply.status) || location === null) return reply
    const next = placeOf(name, place, location)
    if (decoded(next) === `${decoded(place)}/`) return reply
    await discard(reply)
    if (next.origin !== place.origin) await checkReachable(name, next)
    place = next
  }
  throw new ServiceError('upstream', `${name} sends from place to place without end.`)
}
