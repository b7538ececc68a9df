import type { Role } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The roles with their claims and holders. */
export const roles = createReloadedCollection<Role>({
  load: () => client.api.roles.list(),
  area: 'roles',
  messages: /^(?:ROLE|USER_ROLE)_/,
})
