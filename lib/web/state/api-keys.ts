import type { ApiKey } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The API keys. */
export const apiKeys = createReloadedCollection<ApiKey>({
  load: () => client.api.auth.listApiKeys(),
  area: 'auth',
  messages: /^API_KEY_/,
})
