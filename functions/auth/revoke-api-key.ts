import { ApiKeyReference } from '#lib/auth/api-key-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/auth/api_keys/{id}/revoke',
  summary: 'Revoke an API key, for good',
  access: { roles: ['SUPER_USER'], claims: ['LIST_API_KEY', 'DELETE_API_KEY'] },
  effect: 'change',
  uses: ['apiKeys'],
  params: ApiKeyReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params }, { apiKeys }) => {
  await apiKeys.revoke(params.id)
  return accepted(`The API key ${params.id} was revoked.`)
})
