import { ApiKeyRecord, ApiKeyReference } from '#lib/auth/api-key-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/api_keys/{id}',
  summary: 'Show one API key',
  access: { claims: ['LIST_API_KEY'] },
  effect: 'read',
  uses: ['apiKeys'],
  params: ApiKeyReference,
  reply: ApiKeyRecord,
}).handle(({ params }, { apiKeys }) => apiKeys.show(params.id))
