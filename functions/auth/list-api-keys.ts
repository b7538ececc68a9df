import * as z from 'zod'
import { ApiKeyRecord } from '#lib/auth/api-key-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/api_keys',
  summary: 'List the API keys',
  access: { claims: ['LIST_API_KEY'] },
  effect: 'read',
  uses: ['apiKeys'],
  filter: true,
  reply: z.array(ApiKeyRecord),
}).handle(async (_, { apiKeys }) => [...(await apiKeys.list())])
