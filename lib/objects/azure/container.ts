import type { ContainerClient } from '@azure/storage-blob'
import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '../port/connection.ts'
import { transportError } from '../http/http-errors.ts'
import { withRetry } from '../http/transient-error.ts'
import type { Fetcher } from '../http/send.ts'
import { createAzureHttpClient } from './http-client.ts'

const bad = (why: string): ServiceError => new ServiceError('invalid', `The connection is not valid: ${why}.`)

/** The URL of the blob service of an account: that of the public cloud, or `endpoint` for other clouds and emulators. */
const getServiceUrl = (account: string, endpoint: string | undefined): string => {
  if (endpoint === undefined) return `https://${account}.blob.core.windows.net`
  const address = (/^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`).replace(/\/+$/, '')
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw bad('endpoint is the address of a blob service, such as https://account.blob.core.windows.net')
  return address
}

/** Options that pass a signal to the library. */
export const abortOptions = (signal: AbortSignal | undefined): { abortSignal?: AbortSignal } =>
  signal ? { abortSignal: signal } : {}

export interface Container {
  readonly host: string
  readonly client: ContainerClient
  /** Calls the library and retries transient errors. Throws `ServiceError`. */
  execute<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T>
}

/** Opens the container of a connection; its requests are sent by `fetcher`. Throws `invalid`. */
export const openContainer = async ({ meta }: Storage, fetcher: Fetcher): Promise<Container> => {
  const { storage_account_name: account = '', container_name: name = '', storage_account_key: key = '' } = meta
  if (!/^[a-z0-9]{3,24}$/.test(account)) throw bad('storage_account_name is not the name of an account')
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) throw bad('container_name is not the name of a container')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) throw bad('storage_account_key is not in base64')
  const base = new URL(`${getServiceUrl(account, meta['endpoint'])}/${name}`)
  // Imported on first use: the library is as large as the service itself, and most installations do not need it.
  const { ContainerClient, StorageSharedKeyCredential } = await import('@azure/storage-blob')
  const client = new ContainerClient(base.href, new StorageSharedKeyCredential(account, key), {
    httpClient: createAzureHttpClient(base, fetcher),
    // `execute` retries by our own rules.
    retryOptions: { maxTries: 1 },
  })
  return {
    host: base.host,
    client,
    execute: (request, signal) =>
      withRetry(
        () =>
          request().catch((error: unknown) => {
            throw transportError(base.host, error)
          }),
        signal,
      ),
  }
}
