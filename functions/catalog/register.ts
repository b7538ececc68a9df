import { CatalogManifests } from '#lib/catalog/manifest.ts'
import { bodyLimit, RegisterManifest } from '#lib/catalog/requests.ts'
import { endpoint } from '#lib/http/endpoint.ts'

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
  reply: CatalogManifests,
}).handle(({ caller, body }, { catalog }) => catalog.register(caller!, body))
