import { remoteFaults } from '../error-mapping.ts'
import { EditManifest } from '#lib/catalog/schemas.ts'
import {
  bodyLimit,
  Catalog,
  CatalogManifest,
  PassedBody,
  PassedQuery,
  RegisteredBody,
  passedManifests,
  RemoteImport,
  RemoteManifests,
} from './catalog-schemas.ts'

const manifest = {
  passThrough: passedManifests,
  faults: remoteFaults,
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  reply: RemoteManifests,
} as const

/** What the endpoints share that edit what a manifest of a remote catalog says. */
export const editing = {
  ...manifest,
  access: {
    anyClaim: ['UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE', 'CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN'],
  },
  body: PassedBody,
  passThrough: { ...passedManifests, body: EditManifest },
} as const

/** What the endpoints share that say whether a manifest of a remote catalog is to be used. */
export const marking = { ...manifest, access: { roles: ['SUPER_USER'] } } as const

/** What the endpoints share that take into a remote catalog what is on its storage. */
export const importing = {
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
  params: Catalog,
  query: PassedQuery,
  body: RegisteredBody,
  bodyLimit,
  audited: ['catalog_id', 'version', 'architecture'],
  reply: RemoteImport,
} as const
