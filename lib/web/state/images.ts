import type { Image } from '#lib/client/api.gen.ts'
import { createCollection } from './collection.ts'
import { client } from './service.ts'

/** The registered images, by their names. */
export const images = createCollection<Image>({
  load: () => client.api.images.list(),
  onEvent: (rows, { message }) => (message.startsWith('IMAGE_') ? 'reload' : rows),
})
