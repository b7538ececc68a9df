import { join } from 'node:path'
import type { ImageStorage } from '#lib/images/context.ts'
import { openImageStorage } from '#lib/images/open-image-storage.ts'
import { createOpenOutgoing } from '#lib/platform/outgoing.ts'
import type { Config } from './config.ts'
import type { State } from './state.ts'

/** Opens the registered images of a state folder. */
export const openHostImages = (
  config: Pick<Config, 'state' | 'image_max_size' | 'outgoing_addresses'>,
  { store, events }: Pick<State, 'store' | 'events'>,
): Promise<ImageStorage> =>
  openImageStorage({
    store,
    publish: events.publish,
    // No path of a request may name a file in the state folder, except in some folders of it that are not this one.
    folder: join(config.state, 'images'),
    outgoing: createOpenOutgoing({ allowed: config.outgoing_addresses }),
    maxBytes: config.image_max_size * 2 ** 20,
  })
