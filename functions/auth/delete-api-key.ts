import { ApiKeyReference } from '#lib/auth/api-key-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/api_keys/{id}',
  summary: 'Delete an API key',
  access: { claims: ['DELETE_API_KEY'] },
  effect: 'change',
  essential: true,
  uses: ['apiKeys'],
  params: ApiKeyReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { apiKeys }) => {
  await apiKeys.remove(params.id, caller)
  return confirmDeletion(`The API key ${params.id} was deleted.`)
})
