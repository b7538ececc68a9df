import { expect } from 'vitest'
import { openInventory } from '#lib/catalog/inventory.ts'
import { StoredManifest } from '#lib/catalog/manifest-schema.ts'
import { applyRegistration } from '#lib/catalog/register.ts'
import { test } from '../../support/harness.ts'

test('two concurrent refreshes after a deletion remove no other manifest from the list', async ({
  eventLog: { store },
}) => {
  const manifests = store.collection('listed', StoredManifest)
  const made = ['1', '2', '3'].map(version =>
    applyRegistration({ catalog_id: 'win11', version, architecture: 'arm64', tags: [] }, undefined, {
      at: '2026-06-01T00:00:00.000000Z',
    }),
  )
  await store.commit(made.map(one => manifests.put(one)))
  const inventory = await openInventory(manifests)
  const [, second] = made
  await store.commit([manifests.remove({ id: second!.id })])
  // A counted download and the deletion refresh the same manifest.
  await Promise.all([inventory.refresh(second!.id), inventory.refresh(second!.id)])
  for (const list of [inventory.list(), inventory.listVersions('win11')])
    expect(list.map(({ version }) => version).toSorted()).toEqual(['1', '3'])
})
