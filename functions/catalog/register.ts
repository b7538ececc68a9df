import { CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { bodyLimit, RegisterManifest } from '#lib/catalog/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { storageFaults } from '#lib/catalog/contracts.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/catalog',
  summary: 'Register a manifest whose pack is on its provider already',
  access: { claims: ['CREATE_CATALOG_MANIFEST'] },
  effect: 'change',
  uses: ['catalog'],
  body: RegisterManifest,
  bodyLimit,
  audited: ['catalog_id', 'version', 'architecture'],
  hasETag: true,
  faults: storageFaults,
  reply: CatalogManifests,
}).handle(({ caller, body, signal }, { catalog }) => catalog.register(caller, body, signal))
