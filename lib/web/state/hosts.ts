import type { Host } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The hosts of a control. */
export const hosts = createReloadedCollection<Host>({
  load: () => client.api.hosts.list(),
  area: 'hosts',
  messages: /^HOST_/,
})
