import { expect, test, vi } from 'vitest'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createStorages } from '#lib/objects/storages.ts'

const bucket = { type: 'minio', meta: { bucket: 'packs', endpoint: 'storage.example.test' } } satisfies Storage
const local = { type: 'local-storage', meta: { catalog_path: '/srv/packs' } } satisfies Storage

test('a program opens the kinds of storage that it was given, and names them for any other', async () => {
  const provider = { type: 'minio' } as Provider
  const open = vi.fn<() => Promise<Provider>>(async () => provider)
  const storages = createStorages({ minio: { open }, oci: { open } })
  expect(await storages.open(bucket)).toMatchObject({ type: 'minio' })
  await storages.open(bucket)
  expect(open).toHaveBeenCalledTimes(1)
  await expect(storages.open(local)).rejects.toMatchObject({
    fault: 'unsupported',
    message: 'This service cannot open storage of the kind local-storage; use minio or oci.',
  })
  await expect(storages.getStorageKey(local)).rejects.toMatchObject({ fault: 'unsupported' })
})

test('a kind of storage can say which objects are the same', async () => {
  const storages = createStorages({
    'local-storage': {
      open: () => expect.unreachable(),
      resolveRoot: async root => `/real${root}`,
      resolveObject: async path => `${path}.target`,
    },
  })
  expect(await storages.getObjectLocations(local, 'a')).toEqual(['/real/srv/packs/a', '/real/srv/packs/a.target'])
})
