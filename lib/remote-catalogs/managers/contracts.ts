import { remoteFaults } from '../error-mapping.ts'
import { bodyLimit, EditManifest } from '#lib/catalog/schemas.ts'
import {
  ManagedManifestParams,
  PassThroughBody,
  PassThroughQuery,
  PassThroughRegistration,
  passThroughManifests,
  RemoteImport,
  RemoteManifests,
} from './catalog-schemas.ts'
import { CatalogManagerReference } from './schemas.ts'

const changeContract = {
  passThrough: passThroughManifests,
  faults: remoteFaults,
  effect: 'change',
  uses: ['managedCatalogs'],
  params: ManagedManifestParams,
  query: PassThroughQuery,
  reply: RemoteManifests,
} as const

/** The contract fields of the endpoints that edit a manifest of a remote catalog. */
export const editContract = {
  ...changeContract,
  access: {
    anyClaim: ['UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE', 'CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN'],
  },
  body: PassThroughBody,
  passThrough: { ...passThroughManifests, body: EditManifest },
} as const

/** The contract fields of the endpoints that set a flag of a manifest of a remote catalog. */
export const flagContract = { ...changeContract, access: { roles: ['SUPER_USER'] } } as const

/** The contract fields of the endpoints that import packs from the storage of a remote catalog into that catalog. */
export const importContract = {
  faults: remoteFaults,
  method: 'PUT',
  access: {
    anyClaim: [
      'PUSH_CATALOG_MANIFEST',
      'IMPORT_CATALOG_MANIFEST',
      'CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_IMPORT_CATALOG_MANIFEST_OWN',
    ],
  },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManagerReference,
  query: PassThroughQuery,
  body: PassThroughRegistration,
  bodyLimit,
  audited: ['catalog_id', 'version', 'architecture'],
  reply: RemoteImport,
} as const
