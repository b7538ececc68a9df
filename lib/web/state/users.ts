import type { User } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The users. */
export const users = createReloadedCollection<User>({
  load: () => client.api.users.list(),
  area: 'users',
  messages: /^(?:USER|ROLE)_/,
})
