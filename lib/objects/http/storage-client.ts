import type { IncomingHttpHeaders } from 'node:http'
import { readText } from './response-body.ts'
import type { Reply } from './fetcher.ts'
import { withRetry } from '#lib/async/retry.ts'

/** A request for one object of a bucket or container. */
export interface StorageRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** An object; `''` is the bucket or container itself. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes of the body that were sent so far. */
  readonly onSent?: (bytes: number) => void
}

export interface TextReply {
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends requests to one bucket or container. Each request is signed, and retried after a transient error. */
export interface StorageClient {
  readonly host: string
  /** Sends a request whose reply is streamed. Throws the error of an unsuccessful status. */
  open(request: StorageRequest): Promise<Reply>
  /** Sends a request and reads its reply as text. Throws also for a reply that `assertText` refuses. */
  send(request: StorageRequest): Promise<TextReply>
}

/**
 * Makes a client of a function that signs and sends one request once.
 * @param sendOnce throws the error of an unsuccessful status
 * @param assertText throws the error of a reply whose text reports a failure in spite of its status
 */
export const createStorageClient = (
  host: string,
  sendOnce: (request: StorageRequest) => Promise<Reply>,
  assertText?: (reply: TextReply, request: StorageRequest) => Promise<void>,
): StorageClient => ({
  host,
  open: request => withRetry(() => sendOnce(request), request.signal),
  send: request =>
    withRetry(async () => {
      const { headers, body } = await sendOnce(request)
      const reply = { headers, text: await readText(host, body) }
      await assertText?.(reply, request)
      return reply
    }, request.signal),
})
