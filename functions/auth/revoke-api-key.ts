import { ApiKeyReference } from '#lib/auth/api-key-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/auth/api_keys/{id}/revoke',
  summary: 'Revoke an API key permanently',
  access: { roles: ['SUPER_USER'], claims: ['LIST_API_KEY', 'DELETE_API_KEY'] },
  effect: 'change',
  essential: true,
  uses: ['apiKeys'],
  params: ApiKeyReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { apiKeys }) => {
  await apiKeys.revoke(params.id, caller)
  return confirmDeletion(`The API key ${params.id} was revoked.`)
})
