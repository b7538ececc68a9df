import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printConnection, type Storage } from '#lib/catalog/connection.ts'
import { startAzurite } from './azurite-server.ts'
import { nginxInstalled, startNginxDav } from './nginx-dav.ts'
import { account, registryInstalled, startRegistry } from './registry.ts'
import { startS3Server, withoutS3 } from './s3-server.ts'

/** An empty place on a real storage server. */
interface Place extends AsyncDisposable {
  /** A connection string. */
  readonly connection: string
}

interface Kind {
  readonly name: string
  /** Why tests on it are left out here; empty when they are not. */
  readonly left: string
  open(): Promise<Place>
}

const opened = (storage: Storage, ...stack: readonly (() => PromiseLike<void> | void)[]): Place => ({
  connection: printConnection({ storage }),
  async [Symbol.asyncDispose]() {
    for (const end of stack) await end()
  },
})

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'vmhost-storage-'))

/** Every kind of storage that packs can be on, with a real server each. */
export const storageKinds: readonly Kind[] = [
  {
    name: 'minio',
    left: withoutS3 ? 'neither versitygw nor Go is installed' : '',
    async open() {
      const server = await startS3Server()
      const { endpoint, accessKey: access_key, secretKey: secret_key } = server
      const meta = { bucket: await server.newBucket(), endpoint, access_key, secret_key }
      return opened({ type: 'minio', meta }, () => server[Symbol.asyncDispose]())
    },
  },
  {
    name: 'azure-storage-account',
    left: '',
    async open() {
      const server = await startAzurite()
      const { containerName } = await server.newContainer()
      const meta = {
        storage_account_name: server.account,
        storage_account_key: server.key,
        container_name: containerName,
        endpoint: server.endpoint,
      }
      return opened({ type: 'azure-storage-account', meta }, () => server[Symbol.asyncDispose]())
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
      return opened({ type: 'artifactory', meta }, () => server[Symbol.asyncDispose](), remove)
    },
  },
  {
    name: 'oci',
    left: registryInstalled ? '' : 'docker-registry is not installed',
    async open() {
      const folder = newFolder()
      const server = await startRegistry(folder, { auth: 'token' })
      const remove = (): void => rmSync(folder, { recursive: true })
      const meta = { registry: server.address, repository: 'team/packs', ...account }
      return opened({ type: 'oci', meta }, () => server[Symbol.asyncDispose](), remove)
    },
  },
]
