import { endpoint } from '#lib/http/endpoint.ts'
import { RangeReply } from '#lib/calls/range-reply.ts'
import {
  ManagedManifestParams,
  passThroughManifests,
  PassThroughQuery,
  RemoteManifests,
} from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import { DownloadQuery } from '#lib/catalog/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/download',
  summary: 'Show what a download from a remote catalog needs; with content=pack, forward the bytes (Range)',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: ManagedManifestParams,
  query: PassThroughQuery,
  media: 'application/octet-stream',
  faults: remoteFaults,
  passThrough: { ...passThroughManifests, query: DownloadQuery },
  reply: RemoteManifests,
}).handle(async (call, { managedCatalogs }) =>
  'content' in call.query ? new RangeReply(await managedCatalogs.content(call)) : managedCatalogs.download(call),
)
