import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import { formatConnection, type Storage } from '#lib/objects/port/connection.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { findElements, findText, parseXml } from '#lib/objects/http/xml.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { startAzurite, withoutAzurite } from './servers/azurite-server.ts'
import { anyFile } from './host-files.ts'
import { nginxInstalled, startNginxDav } from './servers/nginx-dav.ts'
import { account, registryInstalled, startRegistry } from './servers/registry.ts'
import { startS3Server, withoutS3 } from './servers/s3-server.ts'
import { rounds } from './rounds.ts'

/** An empty place on a real storage server. */
export interface Place extends AsyncDisposable {
  /** A connection string. */
  readonly connection: string
  /** What is read and written there beside the service. */
  readonly provider: Provider
  /** All that is there: the paths of objects and of what is hidden, and of uploads that have not ended, each once. */
  everything(): Promise<readonly string[]>
}

export interface Kind {
  readonly name: string
  /** Why tests on it are left out here; empty when they are not. */
  readonly left: string
  open(): Promise<Place>
}

const opened = async (
  storage: Storage,
  everything: (provider: Provider) => Promise<readonly string[]>,
  ...stack: readonly (() => PromiseLike<void> | void)[]
): Promise<Place> => {
  const provider = await createHostStorages({ folder: tmpdir(), hostFiles: anyFile }).open(storage)
  return {
    connection: formatConnection({ storage }),
    provider,
    everything: async () => [...new Set(await everything(provider))].sort(),
    async [Symbol.asyncDispose]() {
      for (const end of stack) await end()
    },
  }
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'vmhost-storage-'))

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** The paths of all files below a folder, also of those whose names are hidden. */
const filesBelow = async (folder: string): Promise<string[]> =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter(entry => !entry.isDirectory())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))

export const localKind: Kind = {
  name: 'local-storage',
  left: '',
  async open() {
    const folder = newFolder()
    const storage: Storage = { type: 'local-storage', meta: { catalog_path: folder } }
    return opened(
      storage,
      () => filesBelow(folder),
      () => rmSync(folder, { recursive: true }),
    )
  },
}

/** An empty repository in a docker-registry. */
export const openRegistry = async ({ deletes = true } = {}): Promise<Place> => {
  const folder = newFolder()
  const server = await startRegistry(folder, { auth: 'token', deletes })
  const remove = (): void => rmSync(folder, { recursive: true })
  const meta = { registry: server.address, repository: 'team/packs', ...account }
  // Blobs that nothing leads to, and uploads that did not end, are the registry's own to collect.
  const everything = async (provider: Provider): Promise<string[]> =>
    (await all(provider.list(''))).map(({ path }) => path)
  return opened({ type: 'oci', meta }, everything, () => server[Symbol.asyncDispose](), remove)
}

/** Every kind of storage of others that packs can be on, with a real server each. */
export const storageKinds: readonly Kind[] = [
  {
    name: 'minio',
    left: withoutS3 ? 'neither versitygw nor Go is installed' : '',
    async open() {
      const server = await startS3Server()
      const { endpoint, accessKey: access_key, secretKey: secret_key } = server
      const meta = { bucket: await server.newBucket(), endpoint, access_key, secret_key }
      const names = async (query: string, kind: string): Promise<string[]> => {
        const text = await (await server.call('GET', `${meta.bucket}?${query}`)).text()
        const list = await parseXml(endpoint, text)
        expect(findText(list, 'IsTruncated')).not.toBe('true')
        return findElements(list, kind).map(one => findText(one, 'Key')!)
      }
      const everything = async (): Promise<string[]> => [
        ...(await names('list-type=2', 'Contents')),
        ...(await names('uploads=', 'Upload')),
      ]
      return opened({ type: 'minio', meta }, everything, () => server[Symbol.asyncDispose]())
    },
  },
  {
    name: 'azure-storage-account',
    left: withoutAzurite ? 'azurite-blob is not on PATH' : '',
    async open() {
      const server = await startAzurite()
      const { storage, listNames } = await server.newContainer()
      return opened(storage, listNames, () => server[Symbol.asyncDispose]())
    },
  },
  {
    name: 'artifactory',
    left: nginxInstalled ? '' : 'nginx and libnginx-mod-http-dav-ext are not installed',
    async open() {
      const folder = newFolder()
      const server = await startNginxDav(folder)
      const { url, username, password } = server
      const remove = (): void => rmSync(folder, { recursive: true })
      const meta = { url, repo: 'packs', username, password }
      const everything = (): Promise<string[]> => filesBelow(join(server.root, 'artifactory/packs'))
      return opened({ type: 'artifactory', meta }, everything, () => server[Symbol.asyncDispose](), remove)
    },
  },
  {
    name: 'oci',
    left: registryInstalled ? '' : 'docker-registry is not installed',
    open: () => openRegistry(),
  },
]

/**
 * The kinds on which transfers between whole services are tried: in every run a store of objects and a registry, by
 * `npm run full` all. The contract of providers runs over all of them in every run.
 */
export const sampledKinds: readonly Kind[] = rounds(
  storageKinds.filter(({ name }) => name === 'minio' || name === 'oci'),
  storageKinds,
)

/** The kinds beside local storage on which transfers are killed: in every run none, by `npm run full` all. */
export const killedKinds: readonly Kind[] = rounds([], storageKinds)
