import type { ContainerClient } from '@azure/storage-blob'
import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '../../connection.ts'
import { failureOf } from '../http/failures.ts'
import { repeat } from '../http/retry.ts'
import type { Fetcher } from '../http/send.ts'
import { createHttpClient } from './http-client.ts'

const bad = (why: string): ServiceError => new ServiceError('invalid', `The connection is not valid: ${why}.`)

/** The address of the blobs of an account: that of the public cloud, or `endpoint` for others and for emulators. */
const serviceOf = (account: string, endpoint: string | undefined): string => {
  if (endpoint === undefined) return `https://${account}.blob.core.windows.net`
  const address = (/^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`).replace(/\/+$/, '')
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw bad('endpoint is the address of a blob service, such as https://account.blob.core.windows.net')
  return address
}

/** How the library is told of a signal. */
export const until = (signal: AbortSignal | undefined): { abortSignal?: AbortSignal } =>
  signal ? { abortSignal: signal } : {}

export interface Container {
  readonly host: string
  readonly client: ContainerClient
  /** Has the library make a request, again when what went wrong may pass. Throws the errors of our list. */
  ask<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T>
}

/** The container of a connection, which is spoken to by `fetcher`. Throws `invalid`. */
export const openContainer = async ({ meta }: Storage, fetcher: Fetcher): Promise<Container> => {
  const { storage_account_name: account = '', container_name: name = '', storage_account_key: key = '' } = meta
  if (!/^[a-z0-9]{3,24}$/.test(account)) throw bad('storage_account_name is not the name of an account')
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) throw bad('container_name is not the name of a container')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) throw bad('storage_account_key is not in base64')
  const base = new URL(`${serviceOf(account, meta['endpoint'])}/${name}`)
  // As large as the service itself, and most have no use for it.
  const { ContainerClient, StorageSharedKeyCredential } = await import('@azure/storage-blob')
  const client = new ContainerClient(base.href, new StorageSharedKeyCredential(account, key), {
    httpClient: createHttpClient(base, fetcher),
    // What may pass is tried again by our rules.
    retryOptions: { maxTries: 1 },
  })
  return {
    host: base.host,
    client,
    ask: (request, signal) =>
      repeat(
        () =>
          request().catch((error: unknown) => {
            throw failureOf(base.host, error)
          }),
        signal,
      ),
  }
}
