import { expect } from 'vitest'
import { openInventory } from '#lib/catalog/inventory.ts'
import { StoredManifest } from '#lib/catalog/manifest-schema.ts'
import { registeredManifest } from '#lib/catalog/register.ts'
import { test } from '../../support/harness.ts'

test('a deletion that is reported twice removes nothing else from the list', async ({ eventLog: { store } }) => {
  const manifests = store.collection('listed', StoredManifest)
  const made = ['1', '2', '3'].map(version =>
    registeredManifest({ catalog_id: 'win11', version, architecture: 'arm64', tags: [] }, undefined, {
      at: '2026-06-01T00:00:00.000000Z',
    }),
  )
  await store.commit(made.map(one => manifests.put(one)))
  const inventory = await openInventory(manifests)
  const [, second] = made
  await store.commit([manifests.remove({ id: second!.id })])
  // A download of it is counted, and it is deleted.
  await Promise.all([inventory.refresh(second!.id), inventory.refresh(second!.id)])
  for (const list of [inventory.all(), inventory.of('win11')])
    expect(list.map(({ version }) => version).toSorted()).toEqual(['1', '3'])
})
