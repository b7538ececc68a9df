import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainerClient } from '@azure/storage-blob'
import { findProgram } from '../programs.ts'
import { whenReachable } from '../reachable.ts'
import { freePort } from './sshd.ts'

const program = findProgram('azurite-blob')

/** Whether tests against Azurite are left out, which is installed beside the project: see the README. */
export const withoutAzurite = program === undefined
if (process.env['REQUIRE_PROVIDERS'] === '1' && withoutAzurite)
  throw new Error('REQUIRE_PROVIDERS is set, and azurite-blob is not on PATH')

export interface AzuriteServer extends AsyncDisposable {
  /** The address of the account's blobs. */
  readonly endpoint: string
  readonly account: string
  readonly key: string
  /** Makes an empty container. */
  newContainer(): Promise<ContainerClient>
}

/** The emulator of Azure's blobs by Microsoft, on a port of the loopback. It checks signatures. */
export const startAzurite = async (): Promise<AzuriteServer> => {
  const { BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob')
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-azurite-'))
  const [account, key] = ['packaccount', Buffer.from('the key of the account').toString('base64')]
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}/${account}`
  const child = spawn(
    process.execPath,
    [
      program!,
      '--silent',
      '--skipApiVersionCheck',
      '--disableTelemetry',
      '--location',
      folder,
      '--blobPort',
      String(port),
    ],
    { env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` }, stdio: 'ignore' },
  )
  const exited = new Promise(resolve => child.once('exit', resolve))
  await whenReachable(`127.0.0.1:${port}`, child)
  const owner = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(account, key))
  let containers = 0
  return {
    endpoint,
    account,
    key,
    async newContainer() {
      containers += 1
      const { containerClient } = await owner.createContainer(`packs-${containers}`)
      return containerClient
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true })
    },
  }
}
