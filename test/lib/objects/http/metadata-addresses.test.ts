import { createFetcher } from '#lib/objects/http/send.ts'
import type dns from 'node:dns'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { createArtifactory } from '#lib/objects/artifactory/artifactory.ts'
import { createAzure } from '#lib/objects/azure/azure.ts'
import { createOci } from '#lib/objects/oci/oci.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { createTestSource } from '../../../contracts/provider.ts'

// Names are resolved here: this one has the address of a cloud's metadata service.
const name = 'cloud.example.test'
vi.mock('node:dns', async original => ({
  ...(await original<typeof dns>()),
  lookup: (host: string, _: object, done: (error: Error | null, found: object[]) => void) =>
    done(null, [{ address: host === name ? '169.254.169.254' : '127.0.0.1', family: 4 }]),
}))

test.each([
  [
    'S3',
    () =>
      createS3(
        { type: 'minio', meta: { bucket: 'packs', endpoint: name, access_key: 'a', secret_key: 'b' } },
        createFetcher,
      ),
  ],
  [
    'Azure',
    () =>
      createAzure(
        {
          type: 'azure-storage-account',
          meta: { storage_account_name: 'packs', container_name: 'packs', storage_account_key: 'a', endpoint: name },
        },
        createFetcher(),
      ),
  ],
  [
    'artifactory',
    () =>
      createArtifactory({ type: 'artifactory', meta: { url: name, repo: 'packs', access_key: 'a' } }, createFetcher()),
  ],
  [
    'oci',
    () => createOci({ type: 'oci', meta: { registry: name, repository: 'packs' } }, { fetcher: createFetcher() }),
  ],
])('%s: a connection to a metadata service is refused', async (_, open) => {
  await expect(open().then(provider => provider.stat('a'))).rejects.toMatchObject({ fault: 'forbidden' })
})

const metadataUrl = `http://${name}/latest`
const redirect = { Location: metadataUrl }

/** An Artifactory that redirects each object. */
const artifactory: RequestListener = ({ url }, response) =>
  void (url?.includes('/api/storage/') ? response.end('{"repo":"packs"}') : response.writeHead(302, redirect).end())

/** A registry that redirects manifests, blobs and uploads. */
const registry: RequestListener = ({ method, url }, response) => {
  if (method === 'POST') return void response.writeHead(202, redirect).end()
  if (method === 'HEAD') return void response.writeHead(404).end()
  void response.writeHead(url?.endsWith('manifests/new') ? 404 : 307, redirect).end()
}

const tokenChallenge: RequestListener = (_, response) =>
  void response.writeHead(401, { 'WWW-Authenticate': `Bearer realm="${metadataUrl}",service="packs"` }).end()

const openArtifactory = (host: string) =>
  createArtifactory(
    { type: 'artifactory', meta: { url: `http://${host}`, repo: 'packs', access_key: 'a' } },
    createFetcher(),
  )
const openOci = (host: string) =>
  createOci({ type: 'oci', meta: { registry: host, repository: 'packs' } }, { fetcher: createFetcher() })

test.each([
  ['an artifactory, for an object', artifactory, openArtifactory, 'read'],
  ['a registry, for what is read', registry, openOci, 'read'],
  ['a registry, for an upload', registry, openOci, 'write'],
  ['a registry, for a token', tokenChallenge, openOci, 'read'],
] as const)('%s: a redirect to a metadata service is refused', async (_, listener, open, what) => {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const provider = await open(`127.0.0.1:${(server.address() as AddressInfo).port}`)
    const done = what === 'read' ? provider.read('a') : provider.write('new', createTestSource(Buffer.from('x')))
    await expect(done).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('not allowed'),
    })
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
