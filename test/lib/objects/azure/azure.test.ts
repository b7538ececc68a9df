import { createFetcher } from '#lib/objects/http/send.ts'
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Storage } from '#lib/objects/port/connection.ts'
import { createAzure } from '#lib/objects/azure/azure.ts'
import { providerContract, createTestSource } from '../../../contracts/provider.ts'
import { countingFetcher } from '../../../support/counting-fetcher.ts'
import { type AzuriteServer, startAzurite, withoutAzurite } from '../../../support/servers/azurite-server.ts'

const MiB = 1024 * 1024

const hash = (algorithm: string, bytes: Buffer): string => createHash(algorithm).update(bytes).digest('hex')

describe.skipIf(withoutAzurite)('Azure, against Azurite (left out where azurite-blob is not on PATH)', () => {
  let server: AzuriteServer
  beforeAll(async () => {
    server = await startAzurite()
  }, 120_000)
  afterAll(() => server[Symbol.asyncDispose]())

  const { fetcher, sent } = countingFetcher(createFetcher())
  const newStorage = async (more = {}): Promise<Storage> => {
    const { storage } = await server.newContainer()
    return { ...storage, meta: { ...storage.meta, ...more } }
  }
  let last: Storage
  const again = () => createAzure(last, fetcher)
  const open = async () => {
    last = await newStorage()
    return again()
  }
  providerContract(open, again, 8 * MiB, { resume: 'reads all', sent })

  test('stores the checksums of an object', async () => {
    const azure = await open()
    const [small, large] = [randomBytes(1_000), randomBytes(9 * MiB)]
    await azure.write('small', createTestSource(small), { sha256: hash('sha256', small) })
    await azure.write('large', createTestSource(large))
    for (const [path, bytes] of [
      ['small', small],
      ['large', large],
    ] as const)
      expect(await azure.stat(path)).toMatchObject({
        size: bytes.length,
        sha256: hash('sha256', bytes),
        md5: hash('md5', bytes),
        modifiedAt: expect.stringMatching(/^20.*Z$/),
      })
    const listed: (string | undefined)[][] = []
    for await (const { path, md5, sha256 } of azure.list('')) listed.push([path, md5, sha256])
    expect(listed).toEqual([
      ['large', hash('md5', large), hash('sha256', large)],
      ['small', hash('md5', small), hash('sha256', small)],
    ])
  })

  test.each([
    ['a wrong key', { storage_account_key: Buffer.from('another').toString('base64') }, 'refused the credentials'],
    ['no such container', { container_name: 'no-such' }, 'container'],
  ])('%s', async (_, more, words) => {
    const azure = await createAzure(await newStorage(more), fetcher)
    for (const ask of [
      () => azure.stat('a'),
      () => azure.read('a'),
      () => azure.write('a', createTestSource(Buffer.from('x'))),
      () => azure.write('a', createTestSource(Buffer.alloc(9 * MiB))),
      () => azure.list('')[Symbol.asyncIterator]().next(),
    ])
      await expect(ask()).rejects.toMatchObject({ fault: 'upstream', message: expect.stringContaining(words) })
  })

  test.each([
    [{ storage_account_name: 'evil.example/' }, 'storage_account_name'],
    [{ container_name: '../other' }, 'container_name'],
    [{ storage_account_key: 'not base64!' }, 'storage_account_key'],
    [{ endpoint: 'https://name:pass@example.test' }, 'endpoint'],
  ])('refuses an invalid connection: %j', async (more, key) =>
    expect(newStorage(more).then(storage => createAzure(storage, createFetcher()))).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining(key),
    }),
  )
})
