import { AwsV4Signer } from 'aws4fetch'
import { readText } from '../http/response-body.ts'
import { createStatusError } from '../http/http-errors.ts'
import { isSuccess } from '../http/response.ts'
import type { Fetcher, Reply } from '../http/fetcher.ts'
import { createBody } from '../http/request-body.ts'
import { createStorageClient, type StorageClient, type StorageRequest, type TextReply } from '../http/storage-client.ts'
import { findText, parseXml } from '../http/xml.ts'
import type { Credentials, BucketEndpoint } from './bucket-endpoint.ts'

/** Makes the client of a bucket. */
export const createS3Client = (endpoint: BucketEndpoint, credentials: Credentials, fetcher: Fetcher): StorageClient => {
  const { host, region } = endpoint
  // The signing key changes once a day.
  const signingKeys = new Map<string, ArrayBuffer>()

  /** The code of an error; undefined for a reply that is no XML, such as the page of a proxy. */
  const findCode = async (text: string): Promise<string | undefined> =>
    parseXml(host, text).then(
      xml => findText(xml, 'Code'),
      () => undefined,
    )

  const sendOnce = async ({ method, key, query, headers, body, signal, onSent }: StorageRequest): Promise<Reply> => {
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
    if (isSuccess(reply)) return reply
    const { status, headers: replyHeaders } = reply
    // A reply to HEAD has no body and so no code.
    const missing = key === '' ? 'NoSuchBucket' : 'NoSuchKey'
    const code = (await findCode(await readText(host, reply.body))) ?? (status === 404 ? missing : undefined)
    throw createStatusError({ host, status, headers: replyHeaders, code, what: key })
  }

  /** S3 replies to long operations with 200 before they are done, and reports a failure in the body. */
  const assertNoError = async ({ headers, text }: TextReply, { key }: StorageRequest): Promise<void> => {
    const code = /^\s*(<\?xml[^>]*>\s*)?<Error\b/.test(text) ? await findCode(text) : undefined
    if (code !== undefined)
      throw createStatusError({ host, status: code === 'InternalError' ? 500 : 400, headers, code, what: key })
  }
  return createStorageClient(host, sendOnce, assertNoError)
}
