import { afterAll, beforeAll, describe } from 'vitest'
import type { Storage } from '#lib/catalog/connection.ts'
import { createAzure } from '#lib/catalog/providers/azure.ts'
import { createFetcher, type Fetcher } from '#lib/catalog/providers/http/send.ts'
import { providerContract } from '../../../contracts/provider.ts'
import { type AzuriteServer, startAzurite } from '../../../support/azurite-server.ts'

const MiB = 1024 * 1024

const storageAt = ({ endpoint, account, key }: AzuriteServer, container: string, more = {}): Storage => ({
  type: 'azure-storage-account',
  meta: { storage_account_name: account, storage_account_key: key, container_name: container, endpoint, ...more },
})

/** Counts the bytes that go out. */
const counting = () => {
  const fetcher = createFetcher()
  let sent = 0
  const count: Fetcher = ask => {
    sent += ask.body?.length ?? 0
    return fetcher(ask)
  }
  return { fetcher: count, sent: () => sent }
}

describe('Azure, against Azurite', () => {
  let server: AzuriteServer
  beforeAll(async () => {
    server = await startAzurite()
  }, 120_000)
  afterAll(() => server[Symbol.asyncDispose]())

  const { fetcher, sent } = counting()
  const onNew = async () => createAzure(storageAt(server, (await server.newContainer()).containerName), fetcher)
  providerContract(onNew, 8 * MiB, sent)
})
