import { CatalogManifest, PassedBody, PassedQuery, RemoteManifests } from './catalog-schemas.ts'

const manifest = {
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
} as const

/** What the endpoints share that say whether a manifest of a remote catalog is to be used. */
export const marking = { ...manifest, access: { roles: ['SUPER_USER'] } } as const
