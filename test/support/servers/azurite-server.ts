import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAzureClient } from '#lib/objects/azure/client.ts'
import { parseContainerEndpoint } from '#lib/objects/azure/container-endpoint.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import { findElements, findText, parseXml } from '#lib/objects/http/xml.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { expect } from 'vitest'
import { findProgram } from '../programs.ts'
import { whenReachable } from '../reachable.ts'
import { freePort } from './sshd.ts'

const program = findProgram('azurite-blob')

/** Whether tests against Azurite are left out, which is installed beside the project: see CONTRIBUTING.md. */
export const withoutAzurite = program === undefined
if (process.env['REQUIRE_PROVIDERS'] === '1' && withoutAzurite)
  throw new Error('REQUIRE_PROVIDERS is set, and azurite-blob is not on PATH')

interface AzuriteContainer {
  readonly storage: Storage
  /** The names of all blobs, also of those whose blocks are not committed. */
  listNames(): Promise<readonly string[]>
}

export interface AzuriteServer extends AsyncDisposable {
  /** Makes an empty container. */
  newContainer(): Promise<AzuriteContainer>
}

/** The emulator of Azure's blobs by Microsoft, on a port of the loopback. It checks signatures. */
export const startAzurite = async (): Promise<AzuriteServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-azurite-'))
  const [account, key] = ['packaccount', Buffer.from('the key of the account').toString('base64')]
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}/${account}`
  const child = spawn(
    process.execPath,
    [program!, '--silent', '--disableTelemetry', '--location', folder, '--blobPort', String(port)],
    { env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` }, stdio: 'ignore' },
  )
  const exited = new Promise(resolve => child.once('exit', resolve))
  await whenReachable(`127.0.0.1:${port}`, child)
  let containers = 0
  return {
    async newContainer() {
      containers += 1
      const storage: Storage = {
        type: 'azure-storage-account',
        meta: {
          storage_account_name: account,
          storage_account_key: key,
          container_name: `packs-${containers}`,
          endpoint,
        },
      }
      const client = createAzureClient(parseContainerEndpoint(storage), createFetcher())
      await client.send({ method: 'PUT', key: '', query: { restype: 'container' } })
      return {
        storage,
        async listNames() {
          const query = { restype: 'container', comp: 'list', include: 'uncommittedblobs' }
          const { text } = await client.send({ method: 'GET', key: '', query })
          const list = await parseXml(client.host, text)
          expect(findText(list, 'NextMarker')).toBe('')
          return findElements(list, 'Blob').map(blob => findText(blob, 'Name')!)
        },
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true })
    },
  }
}
