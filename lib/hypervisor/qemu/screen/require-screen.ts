import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '../../driver.ts'
import { isModern } from '../../parts.ts'

/** Throws `conflict` unless the machine runs, or is paused, and has a screen. */
export const requireScreen = ({ name, state, definition }: MachineView): void => {
  if (!definition.display)
    throw new ServiceError(
      'conflict',
      isModern(definition)
        ? `${name} has no screen. Stop it and set display to on; then it has one.`
        : `${name} has no screen: machines of the type pc have none. Make a new machine with its disks.`,
    )
  if (state !== 'running' && state !== 'paused')
    throw new ServiceError('conflict', `${name} is ${state}, so its screen shows nothing; start it first.`)
}
