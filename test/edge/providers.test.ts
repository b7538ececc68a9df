import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd } from '#build/workerd.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { newFolder } from '../support/folder.ts'
import { startAzurite, withoutAzurite } from '../support/servers/azurite-server.ts'
import { nginxInstalled, startNginxDav } from '../support/servers/nginx-dav.ts'
import { account, registryInstalled, startRegistry } from '../support/servers/registry.ts'
import { startS3Server, withoutS3 } from '../support/servers/s3-server.ts'
import { bundleForWorkerd } from '../support/workerd/bundle.ts'
import type { TestResult } from '../support/workerd/vitest.ts'
import type { ProvidersRequest } from './programs/providers.ts'

let folder: ReturnType<typeof newFolder>
let script: string
beforeAll(async () => {
  folder = newFolder()
  script = join(folder.path, 'providers.mjs')
  await bundleForWorkerd('test/edge/programs/providers.ts', script)
})
afterAll(() => folder[Symbol.dispose]())

/** Serves what `open` gives, as JSON. */
const serve = async (open: () => Promise<Storage>): Promise<{ readonly url: string } & AsyncDisposable> => {
  const server = createServer((_, response) => {
    // A connection that this server closed while it was idle would fail the next request of the program.
    response.setHeader('Connection', 'close')
    void open().then(storage => response.end(JSON.stringify(storage)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // A server on a port has an address of this kind.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Runs the contract of providers in workerd, on places that `open` makes. */
const keepContract = async (type: ProvidersRequest['type'], open: () => Promise<Storage>): Promise<void> => {
  await using places = await serve(open)
  await using worker = await startWorkerd({
    ...edgeSettings,
    script,
    durableObjects: {},
    entrypoints: {},
    // The servers of this test are on the loopback.
    network: ['public', 'private'],
  })
  const response = await fetch(worker.url, { method: 'POST', body: JSON.stringify({ type, places: places.url }) })
  // What the program replies.
  const results = (await response.json()) as TestResult[]
  expect(results.filter(({ error }) => error !== undefined)).toEqual([])
  expect(results).toHaveLength(25)
}

test.skipIf(withoutS3)('S3 keeps the contract of providers in workerd', async () => {
  await using server = await startS3Server()
  const { endpoint, accessKey: access_key, secretKey: secret_key } = server
  await keepContract('minio', async () => ({
    type: 'minio',
    meta: { bucket: await server.newBucket(), endpoint, access_key, secret_key },
  }))
})

test.skipIf(withoutAzurite)('Azure keeps the contract of providers in workerd', async () => {
  await using server = await startAzurite()
  await keepContract('azure-storage-account', async () => (await server.newContainer()).storage)
})

test.skipIf(!registryInstalled)('an OCI registry keeps the contract of providers in workerd', async () => {
  await using server = await startRegistry(join(folder.path, 'registry'), { auth: 'token' })
  let places = 0
  await keepContract('oci', async () => ({
    type: 'oci',
    meta: { registry: server.address, repository: `team/packs-${(places += 1)}`, ...account },
  }))
})

test.skipIf(!nginxInstalled)('a WebDAV server keeps the contract of providers in workerd', async () => {
  await using server = await startNginxDav(join(folder.path, 'dav'))
  const { url, username, password } = server
  let places = 0
  await keepContract('artifactory', async () => ({
    type: 'artifactory',
    meta: { url, repo: `packs-${(places += 1)}`, username, password },
  }))
})
