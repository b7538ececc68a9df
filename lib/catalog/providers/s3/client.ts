import type { IncomingHttpHeaders } from 'node:http'
import { AwsV4Signer } from 'aws4fetch'
import { textOf } from '../http/body.ts'
import { refusalOf } from '../http/failures.ts'
import { repeat } from '../http/retry.ts'
import type { Fetcher, Reply } from '../http/send.ts'
import { bodyOf } from '../http/sent-body.ts'
import type { Credentials, Place } from './place.ts'
import { textIn } from './xml.ts'

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** An object; `''` is the bucket. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal?: AbortSignal | undefined
  readonly onSent?: (bytes: number) => void
}

/** Speaks to one bucket; every call is signed, and made again when what went wrong may pass. */
export interface Client {
  readonly host: string
  /** A call whose reply is streamed; throws what the status means. */
  open(call: Call): Promise<Reply>
  /** A call whose reply is short. */
  ask(call: Call): Promise<{ readonly headers: IncomingHttpHeaders; readonly text: string }>
}

export const createClient = (place: Place, credentials: Credentials, fetcher: Fetcher): Client => {
  const { host, region } = place
  // One a day.
  const signingKeys = new Map<string, ArrayBuffer>()
  const once = async ({ method, key, query, headers = {}, body, signal, onSent }: Call): Promise<Reply> => {
    // Of the body its MD5 is signed, so that it is read once and not twice.
    const signed = await new AwsV4Signer({
      method,
      url: place.url(key, query).href,
      headers: { ...headers },
      ...credentials,
      service: 's3',
      cache: signingKeys,
      region,
    }).sign()
    const reply = await fetcher({
      method,
      url: signed.url,
      headers: Object.fromEntries(signed.headers),
      body: body && bodyOf(body, onSent),
      signal,
    })
    if (reply.status >= 200 && reply.status < 300) return reply
    const { status, headers: told } = reply
    // HEAD is answered without words.
    const missing = key === '' ? 'NoSuchBucket' : 'NoSuchKey'
    const code = textIn(await textOf(host, reply.body), 'Code') ?? (status === 404 ? missing : undefined)
    throw refusalOf({ host, status, headers: told, code, what: key })
  }
  return {
    host,
    open: call => repeat(() => once(call), call.signal),
    ask: call =>
      repeat(async () => {
        const { headers, body } = await once(call)
        const text = await textOf(host, body)
        // What takes long is answered with 200 before it is done, and then fails in words.
        const code = /^\s*(<\?xml[^>]*>\s*)?<Error\b/.test(text) ? textIn(text, 'Code') : undefined
        if (code !== undefined)
          throw refusalOf({ host, status: code === 'InternalError' ? 500 : 400, headers, code, what: call.key })
        return { headers, text }
      }, call.signal),
  }
}
