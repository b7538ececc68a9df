import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'

export interface NameReservations {
  /**
   * Reserves a name until it is disposed of, so that no other call can take it meanwhile. Throws `conflict` if the name is
   * reserved, or if a machine other than the one with the id `ownerId` has it.
   */
  reserve(name: string, ownerId?: string): Disposable
}

/** Keeps the names of machines unique on the host, in any case. `listViews` returns the existing machines. */
export const createNameReservations = (listViews: () => readonly MachineView[]): NameReservations => {
  const reserved = new Set<string>()
  return {
    reserve(name, ownerId) {
      const key = name.toLowerCase()
      if (reserved.has(key) || listViews().some(view => view.id !== ownerId && view.name.toLowerCase() === key))
        throw new ServiceError('conflict', `A machine called ${name} exists already; choose another name.`)
      reserved.add(key)
      return { [Symbol.dispose]: () => void reserved.delete(key) }
    },
  }
}
