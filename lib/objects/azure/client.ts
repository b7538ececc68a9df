import { createStatusError } from '../http/http-errors.ts'
import { createBody } from '../http/request-body.ts'
import { drain, getHeader, isSuccess } from '../http/response.ts'
import type { Fetcher, Reply } from '../http/fetcher.ts'
import { createStorageClient, type StorageClient, type StorageRequest } from '../http/storage-client.ts'
import type { ContainerEndpoint } from './container-endpoint.ts'
import { createAuthorization } from './shared-key.ts'

/** The version of the REST API. Since 2019-12-12 blocks have up to 4,000 MiB; from 2021-02-12 on lists encode some names. */
const apiVersion = '2020-12-06'

/** Makes the client of a container. */
export const createAzureClient = (
  { host, sharedKey, url: createUrl }: ContainerEndpoint,
  fetcher: Fetcher,
): StorageClient => {
  const sendOnce = async ({ method, key, query, headers, body, signal, onSent }: StorageRequest): Promise<Reply> => {
    const url = createUrl(key, query)
    // Azure refuses a date that is older than 15 minutes, so each attempt has its own.
    const dated = { ...headers, 'x-ms-date': new Date().toUTCString(), 'x-ms-version': apiVersion }
    const authorization = createAuthorization(sharedKey, { method, url, headers: dated, size: body?.length ?? 0 })
    const reply = await fetcher({
      method,
      url,
      headers: { ...dated, authorization },
      body: body && createBody(body, onSent),
      signal,
    })
    if (isSuccess(reply)) return reply
    drain(reply)
    const { status, headers: replyHeaders } = reply
    // A reply to HEAD has no body, and proxies leave out the code.
    const code = getHeader(reply, 'x-ms-error-code') ?? (status === 404 ? 'BlobNotFound' : undefined)
    throw createStatusError({ host, status, headers: replyHeaders, code, what: key })
  }
  return createStorageClient(host, sendOnce)
}
