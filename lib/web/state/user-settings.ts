import type { UserConfig } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The stored settings of the signed-in user. */
export const userSettings = createReloadedCollection<UserConfig>({
  load: () => client.api.userConfigs.list(),
  area: 'userConfigs',
  messages: /^USER_CONFIG_/,
})
