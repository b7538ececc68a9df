import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from './driver.ts'

/** Throws `conflict` unless the machine runs or is paused. */
export const requireScreenOn = ({ name, state }: MachineView): void => {
  if (state !== 'running' && state !== 'paused')
    throw new ServiceError('conflict', `${name} is ${state}, so its screen shows nothing; start it first.`)
}

/** Takes screenshots of machines. */
export interface Screenshots {
  /** Gives the picture that `draw` makes of the screen of a machine. Throws as `draw`. */
  take(id: string, draw: () => Promise<Uint8Array>): Promise<Uint8Array>
}

/** Draws one picture of a machine at a time. All who ask meanwhile get the next one, which is drawn after they have asked. */
export const createScreenshots = (): Screenshots => {
  const limiter = createKeyedLimiter(1)
  const waiting = new Map<string, Promise<Uint8Array>>()
  return {
    async take(id, draw) {
      const next = waiting.get(id)
      if (next) return next
      let hasBegun = false
      const picture = limiter.run(id, () => {
        hasBegun = true
        waiting.delete(id)
        return draw()
      })
      if (!hasBegun) waiting.set(id, picture)
      return picture
    },
  }
}
