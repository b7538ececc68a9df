import { endpoint } from '#lib/http/endpoint.ts'
import { editing } from '#lib/managers/contracts.ts'

export default endpoint({
  ...editing,
  method: 'PUT',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/metadata',
  summary: 'Change the description, tags, claims and roles of a manifest of a remote catalog',
  audited: ['description', 'tags', 'required_claims', 'required_roles'],
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PUT', 'metadata'))
