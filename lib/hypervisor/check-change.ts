import { ServiceError } from '#lib/errors.ts'
import type { Definition } from './definition.ts'
import type { EffectTime, MachineView } from './driver.ts'
import { type HardwareMember, listChangedHardware } from './parts.ts'

/**
 * Checks a change for a driver whose machines can change only these members, and only while they do not run. Throws `unsupported`
 * and `conflict`.
 */
export const checkChangeWhenStopped = (
  driver: string,
  members: readonly HardwareMember[],
  { state, definition }: MachineView,
  next: Definition,
): EffectTime => {
  const changed = listChangedHardware(definition, next)
  const other = changed.find(member => !members.includes(member))
  if (other) throw new ServiceError('unsupported', `${other} cannot be changed: the ${driver} driver does not do that.`)
  if (changed[0] && state === 'running')
    throw new ServiceError('conflict', `${changed[0]} cannot be changed while the machine runs; stop it first.`)
  return 'now'
}
