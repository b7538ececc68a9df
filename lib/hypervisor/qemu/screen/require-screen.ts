import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '../../driver.ts'
import { isModern } from '../../parts.ts'
import { requireScreenOn } from '../../screenshots.ts'

/** Throws `conflict` unless the machine runs, or is paused, and has a screen. */
export const requireScreen = (view: MachineView): void => {
  const { name, definition } = view
  if (!definition.display)
    throw new ServiceError(
      'conflict',
      isModern(definition)
        ? `${name} has no screen. Stop it and set display to on; then it has one.`
        : `${name} has no screen: machines of the type pc have none. Make a new machine with its disks.`,
    )
  requireScreenOn(view)
}
