import { ApiKeyRecord, CreateApiKey } from '#lib/auth/api-key-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/api_keys',
  summary: 'Create an API key; only this reply shows its credential',
  access: { roles: ['SUPER_USER'], claims: ['CREATE_API_KEY', 'LIST'] },
  effect: 'change',
  uses: ['apiKeys'],
  body: CreateApiKey,
  audited: ['name', 'user_id', 'claims', 'expires_at', 'revoked'],
  faults: ['not-found'],
  reply: ApiKeyRecord,
  secretReply: true,
  status: 201,
}).handle(({ body, caller }, { apiKeys }) => apiKeys.create(body, caller))
