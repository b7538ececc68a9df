import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { encodeChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { register } from '../../functions/catalog/packs.ts'
import { type Call, test } from '../../support/harness.ts'

const tebibyte = 2 ** 40

/** Registers a pack whose index says that its one file has so many zeros, and pulls it. */
const pullZeros = async (call: Call, folder: string, zeros: number, size?: number) => {
  const file = { name: 'disk.img', mode: 0o644, size: zeros, sha256: 'ab'.repeat(32), chunks: [{ zeros }] }
  const index = encodeChunkIndex([file])
  mkdirSync(join(folder, 'catalog/demo'), { recursive: true })
  writeFileSync(join(folder, 'catalog/demo/pack'), index)
  const registered = await register(call, {
    catalog_id: 'demo',
    version: '1',
    architecture: 'x86_64',
    type: 'qemu',
    path: '/demo',
    pack_filename: 'pack',
    pack_sha256: hash('sha256', index),
    ...(size !== undefined && { size }),
    provider: { type: 'local-storage', meta: {} },
  })
  expect(registered.status, registered.body.message).toBe(200)
  return call('PUT', '/api/v1/catalog/pull', { body: { catalog_id: 'demo', version: '1', machine_name: 'copy' } })
}

test('a chunk index of some hundred bytes with terabytes of zeros costs no time', async ({ call, folder }) => {
  const { status, body } = await pullZeros(call, folder, 8 * tebibyte)
  // It came to the end of what it unpacks: what is wrong is that this makes no machine.
  expect({ status, ...body }).toMatchObject({
    status: 400,
    message: expect.stringContaining('machine.json is missing'),
  })
})

test('a chunk index with more bytes than the catalog says is refused', async ({ call, folder }) => {
  const { status, body } = await pullZeros(call, folder, 64 * tebibyte, 2 ** 30)
  expect({ status, ...body }).toMatchObject({ status: 502, message: expect.stringContaining('the catalog says') })
})

test('a file that is too large for the file system is refused for lack of space', async ({ call, folder }) => {
  const { status } = await pullZeros(call, folder, 64 * tebibyte)
  // Some file systems take it.
  expect([507, 400]).toContain(status)
})
