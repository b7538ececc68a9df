import type { Storage } from '#lib/catalog/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { following } from '../http/follow.ts'
import { createPeer, repeating } from '../http/peer.ts'
import { discard, refused } from '../http/reply.ts'
import type { Fetcher, Reply } from '../http/send.ts'
import { createSignIn } from './token.ts'

/** One repository of a registry (OCI distribution specification 1.1), and how to speak with it. */
export interface Registry {
  /** Its name and port. */
  readonly host: string
  /** Of something in the repository: `manifests/…`, `blobs/…`, `tags/list`. */
  url(path: string): URL
  /** Sends a request, again and again while what is wrong may pass. */
  readonly send: Fetcher
  /** Sends a request once; `signIn` comes before it all the same. */
  readonly sendOnce: Fetcher
  /** Sends a request that reads, and goes where it is sent. */
  readonly read: Fetcher
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/** https, but on this host or where the connection says http. Throws `invalid`. */
const baseOf = (text: string): URL => {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${loopback.test(text) ? 'http' : 'https'}://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new ServiceError('invalid', 'The registry is not an address like registry.example:5000.')
  if (url.username !== '' || url.password !== '')
    throw new ServiceError('invalid', 'The registry has credentials in it: write username= and password=.')
  return url
}

/** Checks a repository's name by the rule of the specification. Throws `invalid`. */
export const repositoryOf = (text: string): string => {
  const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
  if (text.length > 255 || !new RegExp(`^${part}(?:/${part})*$`).test(text))
    throw new ServiceError(
      'invalid',
      'A repository is named by words of lower-case letters and digits, between slashes.',
    )
  return text
}

export const openRegistry = ({ meta }: Storage, fetcher: Fetcher): Registry => {
  const base = baseOf(meta['registry'] ?? '')
  const repository = repositoryOf(meta['repository'] ?? '')
  const { username, password } = meta
  const signIn = createSignIn(base, { username, password }, createPeer(base, fetcher))
  let credentials: { readonly Authorization: string } | undefined
  let signing: Promise<void> | undefined
  const request = createPeer(base, fetcher, () => credentials)

  /** Gets new credentials, once for all that wait for them; nothing to do when others have come since `used`. */
  const renew = (used: typeof credentials, reply: Reply): Promise<void> => {
    if (used !== credentials) return Promise.resolve()
    signing ??= signIn(reply.headers['www-authenticate'])
      .then(Authorization => void (credentials = { Authorization }))
      .finally(() => void (signing = undefined))
    return signing
  }
  const sendOnce: Fetcher = async ask => {
    // Once more than it takes: what others got in the meantime may be too little for this.
    for (let attempt = 1; ; attempt += 1) {
      const used = credentials
      const reply = await request(ask)
      if (reply.status !== 401 || ask.url.origin !== base.origin) return reply
      if (attempt === 3) throw refused(reply, 'a request')
      discard(reply)
      await renew(used, reply)
    }
  }
  const send = repeating(sendOnce)

  return {
    host: base.host,
    url: path => new URL(`/v2/${repository}/${path}`, base),
    send,
    sendOnce,
    read: following(send),
  }
}
