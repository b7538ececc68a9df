import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { editContract } from '#lib/catalog/contracts.ts'
import { DescribeManifest } from '#lib/catalog/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editContract,
  method: 'PUT',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/metadata',
  summary: 'Replace the description, tags, claims and roles of a manifest',
  body: DescribeManifest,
  audited: ['description', 'tags', 'required_claims', 'required_roles'],
}).handle((call, { catalog }) => catalog.describe(toManifestCall(call), call.body))
