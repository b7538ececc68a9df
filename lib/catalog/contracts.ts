import type { Fault } from '#lib/errors.ts'
import { CatalogManifests } from './manifest-schema.ts'
import { CatalogManifestPlace } from './reference.ts'
import { bodyLimit, EditManifest } from './schemas.ts'

/** What a storage provider can fail with. */
export const storageFaults = ['upstream', 'timeout'] as const satisfies readonly Fault[]

const changing = {
  conditional: true,
  hasETag: true,
  faults: storageFaults,
  effect: 'change',
  uses: ['catalog'],
  params: CatalogManifestPlace,
  reply: CatalogManifests,
  bodyLimit,
} as const

/** What the endpoints share that say whether a manifest is to be used. */
export const marking = { ...changing, access: { roles: ['SUPER_USER'] } } as const

/** What the endpoints share that edit what a manifest says. */
export const editing = {
  ...changing,
  access: { anyClaim: ['UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE'] },
} as const

/** Those among them that edit its lists of names. */
export const editingLists = {
  ...editing,
  body: EditManifest,
  audited: ['required_claims', 'required_roles', 'tags'],
} as const
