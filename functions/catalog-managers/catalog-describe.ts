import { endpoint } from '#lib/http/endpoint.ts'
import { editContract } from '#lib/remote-catalogs/managers/contracts.ts'
import { passThroughManifests } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { DescribeManifest } from '#lib/catalog/schemas.ts'

export default endpoint({
  ...editContract,
  method: 'PUT',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/metadata',
  summary: 'Change the description, tags, claims and roles of a manifest of a remote catalog',
  passThrough: { ...passThroughManifests, body: DescribeManifest },
  audited: ['description', 'tags', 'required_claims', 'required_roles'],
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PUT', 'metadata'))
