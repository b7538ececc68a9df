import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { noContents } from '#lib/catalog/contents.ts'
import { describeOnProvider } from '#lib/catalog/metadata.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { registeredManifest } from '#lib/catalog/register.ts'
import { at, registerPack } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const name = 'win11-arm64-24.2'
const manifestOf = { catalog_id: 'win11', version: '24.2', architecture: 'arm64' } as const
const newer = {
  ...manifestOf,
  pack_path: `${name}~12345678.pdpack`,
  compressed_checksum: 'def',
  size: 7,
  description: 'pushed',
}
const fileIn = (folder: string): string => join(folder, `catalog/win11/${name}.meta`)
const readIn = (folder: string): unknown => JSON.parse(readFileSync(fileIn(folder), 'utf8'))

test('an edit keeps what another host has written about the pack that it has pushed', async ({ call, folder }) => {
  await registerPack(call, folder)
  writeFileSync(fileIn(folder), JSON.stringify(newer))
  const edited = await call('PATCH', `${at('win11', '24.2', 'arm64')}/tags`, { body: { tags: ['gold'] } })
  expect(edited.status).toBe(200)
  expect(readIn(folder)).toMatchObject({
    pack_path: newer.pack_path,
    compressed_checksum: 'def',
    size: 7,
    tags: expect.arrayContaining(['gold']),
  })
})

test('a file that does not describe the manifest is not overwritten', async ({ call, folder }) => {
  await registerPack(call, folder)
  for (const other of [
    { name: 'package', version: '24.2' },
    { ...newer, catalog_id: 'win10' },
  ]) {
    writeFileSync(fileIn(folder), JSON.stringify(other))
    const edited = await call('PATCH', `${at('win11', '24.2', 'arm64')}/tags`, { body: { tags: ['gold'] } })
    expect(edited).toMatchObject({ status: 409, body: { message: expect.stringContaining('does not describe') } })
    expect(readIn(folder)).toEqual(other)
  }
  expect((await call('GET', at('win11', '24.2', 'arm64'))).body[0].tags).not.toContain('gold')
})

test('a description that somebody writes during a change is read again', async ({ call, folder }) => {
  await registerPack(call, folder)
  const local = await createLocalStorage(join(folder, 'catalog'))
  let pushes = 1
  const provider: Provider = {
    ...local,
    async write(path, source, options) {
      if (pushes > 0) {
        pushes -= 1
        writeFileSync(fileIn(folder), JSON.stringify(newer))
      }
      return local.write(path, source, options)
    },
  }
  const context = { storages: { open: async () => provider }, contents: { of: async () => noContents } }
  const manifest = registeredManifest(
    {
      ...manifestOf,
      tags: ['gold'],
      path: '/win11',
      pack_filename: `${name}.pdpack`,
      metadata_filename: `${name}.meta`,
      provider: { type: 'local-storage', meta: {} },
    },
    undefined,
    { at: '2026-06-01T00:00:00.000000Z' },
  )
  const undo = await describeOnProvider(context, manifest, new AbortController().signal)
  expect(readIn(folder)).toMatchObject({ compressed_checksum: 'def', tags: ['gold', 'latest'] })
  await undo(new AbortController().signal)
  expect(readIn(folder)).toEqual(newer)
})
