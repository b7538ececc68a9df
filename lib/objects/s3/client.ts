import type { IncomingHttpHeaders } from 'node:http'
import { AwsV4Signer } from 'aws4fetch'
import { readText } from '../http/response-body.ts'
import { statusError } from '../http/http-errors.ts'
import { withRetry } from '../http/transient-error.ts'
import type { Fetcher, Reply } from '../http/send.ts'
import { createBody } from '../http/request-body.ts'
import type { Credentials, BucketEndpoint } from './bucket-endpoint.ts'
import { findText } from './xml.ts'

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** An object; `''` is the bucket. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal?: AbortSignal | undefined
  readonly onSent?: (bytes: number) => void
}

/** Sends requests to one bucket. Each request is signed, and retried after a transient error. */
export interface S3Client {
  readonly host: string
  /** Sends a request whose reply is streamed. Throws the error of an unsuccessful status. */
  open(call: S3Request): Promise<Reply>
  /** Sends a request and reads its reply as text. Throws also for an error in a reply with status 200. */
  ask(call: S3Request): Promise<{ readonly headers: IncomingHttpHeaders; readonly text: string }>
}

export const createS3Client = (endpoint: BucketEndpoint, credentials: Credentials, fetcher: Fetcher): S3Client => {
  const { host, region } = endpoint
  // The signing key changes once a day.
  const signingKeys = new Map<string, ArrayBuffer>()
  const sendOnce = async ({ method, key, query, headers = {}, body, signal, onSent }: S3Request): Promise<Reply> => {
    // The MD5 of the body is signed instead of the body, so that the body is read once and not twice.
    const signed = await new AwsV4Signer({
      method,
      url: endpoint.url(key, query).href,
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
      body: body && createBody(body, onSent),
      signal,
    })
    if (reply.status >= 200 && reply.status < 300) return reply
    const { status, headers: replyHeaders } = reply
    // A reply to HEAD has no body and so no code.
    const missing = key === '' ? 'NoSuchBucket' : 'NoSuchKey'
    const code = findText(await readText(host, reply.body), 'Code') ?? (status === 404 ? missing : undefined)
    throw statusError({ host, status, headers: replyHeaders, code, what: key })
  }
  return {
    host,
    open: call => withRetry(() => sendOnce(call), call.signal),
    ask: call =>
      withRetry(async () => {
        const { headers, body } = await sendOnce(call)
        const text = await readText(host, body)
        // S3 replies to long operations with 200 before they are done, and reports a failure in the body.
        const code = /^\s*(<\?xml[^>]*>\s*)?<Error\b/.test(text) ? findText(text, 'Code') : undefined
        if (code !== undefined)
          throw statusError({ host, status: code === 'InternalError' ? 500 : 400, headers, code, what: call.key })
        return { headers, text }
      }, call.signal),
  }
}
