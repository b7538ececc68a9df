import { ApiKeyReference } from '#lib/auth/api-key-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/api_keys/{id}',
  summary: 'Delete an API key',
  access: { claims: ['DELETE_API_KEY'] },
  effect: 'change',
  uses: ['apiKeys'],
  params: ApiKeyReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params }, { apiKeys }) => {
  await apiKeys.remove(params.id)
  return accepted(`The API key ${params.id} was deleted.`)
})
