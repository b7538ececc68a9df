import type { ClaimWithUsers } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The claims that can be given. */
export const claims = createReloadedCollection<ClaimWithUsers>({
  load: () => client.api.claims.list(),
  area: 'claims',
  messages: /^(?:CLAIM|USER_CLAIM)_/,
})
