import type { Storage } from '#lib/catalog/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { follow, placeOf } from '../follow.ts'
import { discard, refusal } from '../reply.ts'
import { type Call, createRequest, type Limits, type Reply, retry } from '../request.ts'
import { createSignIn } from './token.ts'

/** One repository of a registry (OCI distribution specification 1.1), and how to speak with it. */
export interface Registry {
  /** Stands for it in messages. */
  readonly name: string
  /** Of something in the repository: `manifests/…`, `blobs/…`, `tags/list`. */
  url(path: string): URL
  /** Where a reply sends to, to go on there. Throws `upstream`. */
  next(reply: Reply): URL
  /** Sends a request, again and again while what is wrong may pass. */
  send(url: URL, call: Call): Promise<Reply>
  /** Sends a request once; `signIn` comes before it all the same. */
  sendOnce(url: URL, call: Call): Promise<Reply>
  /** Sends a request that reads, and goes where it is sent. */
  read(url: URL, call: Call): Promise<Reply>
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

export const openRegistry = ({ meta }: Storage, limits: Limits): Registry => {
  const base = baseOf(meta['registry'] ?? '')
  const repository = repositoryOf(meta['repository'] ?? '')
  const name = `The registry ${base.host}`
  const request = createRequest(name, limits)
  const { username, password } = meta
  const signIn = createSignIn(name, base, { username, password }, request)
  let credentials: { readonly Authorization: string } | undefined
  let signing: Promise<void> | undefined

  /** Gets new credentials, once for all that wait for them; nothing to do when others have come since `used`. */
  const renew = (used: typeof credentials, reply: Reply): Promise<void> => {
    if (used !== credentials) return Promise.resolve()
    signing ??= signIn(reply.headers.get('www-authenticate'))
      .then(Authorization => void (credentials = { Authorization }))
      .finally(() => void (signing = undefined))
    return signing
  }
  const sendOnce: Registry['sendOnce'] = async (url, call) => {
    if (url.origin !== base.origin) return request(url, call)
    // Once more than it takes: what others got in the meantime may be too little for this.
    for (let attempt = 1; ; attempt += 1) {
      const used = credentials
      const reply = await request(url, { ...call, credentials: used })
      if (reply.status !== 401) return reply
      if (attempt === 3) throw await refusal(name, reply, 'it was asked with new ones')
      await discard(reply)
      await renew(used, reply)
    }
  }
  const send: Registry['send'] = (url, call) => retry(() => sendOnce(url, call), limits, call.signal)

  return {
    name,
    url: path => new URL(`/v2/${repository}/${path}`, base),
    next: reply => placeOf(name, reply.url, reply.headers.get('location')),
    send,
    sendOnce,
    read: (url, call) => follow(name, send, url, call),
  }
}
