import type { Definition } from '../../definition.ts'
import { isModern } from '../../parts.ts'

/** The number of IDE devices of a machine: two channels of two, or six ports. */
export const countIdePlaces = (machine: Pick<Definition, 'machine_type'>): number => (isModern(machine) ? 6 : 4)

/** Returns a function that returns the next free place for an IDE device. */
export const generateIdePlaces = (machine: Pick<Definition, 'machine_type'>): (() => object) => {
  let next = 0
  return () => {
    const at = next++
    return isModern(machine) ? { bus: `ide.${at}` } : { bus: `ide.${Math.floor(at / 2)}`, unit: at % 2 }
  }
}
