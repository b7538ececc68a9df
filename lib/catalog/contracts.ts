import type { Fault } from '#lib/errors.ts'
import { CatalogManifests } from './manifest-schema.ts'
import { ManifestReferenceParams } from './reference.ts'
import { bodyLimit, EditManifest } from './schemas.ts'

/** The faults of a call that asks a storage provider. */
export const storageFaults = ['upstream', 'timeout'] as const satisfies readonly Fault[]

const changeContract = {
  conditional: true,
  hasETag: true,
  faults: storageFaults,
  effect: 'change',
  uses: ['catalog'],
  params: ManifestReferenceParams,
  reply: CatalogManifests,
  bodyLimit,
} as const

/** The contract fields of the endpoints that set a flag of a manifest. */
export const flagContract = { ...changeContract, access: { roles: ['SUPER_USER'] } } as const

/** The contract fields of the endpoints that edit a manifest. */
export const editContract = {
  ...changeContract,
  access: { anyClaim: ['UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE'] },
} as const

/** The contract fields of the endpoints that add names to a manifest's lists, or remove them. */
export const editListsContract = {
  ...editContract,
  body: EditManifest,
  audited: ['required_claims', 'required_roles', 'tags'],
} as const
