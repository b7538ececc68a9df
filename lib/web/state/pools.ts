import type { Pool } from '#lib/client/api.gen.ts'
import { createCollection } from './collection.ts'
import { client } from './service.ts'

/** The pools with their machines. What happens to a machine can change the pool that it is of. */
export const pools = createCollection<Pool>({
  load: () => client.api.pools.list(),
  onEvent: (rows, { event_type: type, message }) =>
    type === 'pdfm' && !message.startsWith('IMAGE_') ? 'reload' : rows,
})
