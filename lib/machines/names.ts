import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'

export interface Names {
  /** Holds a name until disposed, so that no other call can take it meanwhile. Throws `conflict` when it is in use. */
  reserve(name: string, owner?: string): Disposable
}

/** Keeps machine names unique on the host, in any case; `all` gives the machines that there are. */
export const createNames = (all: () => readonly MachineView[]): Names => {
  const reserved = new Set<string>()
  return {
    reserve(name, owner) {
      const key = name.toLowerCase()
      if (reserved.has(key) || all().some(view => view.id !== owner && view.name.toLowerCase() === key))
        throw new ServiceError('conflict', `A machine called ${name} exists already; choose another name.`)
      reserved.add(key)
      return { [Symbol.dispose]: () => void reserved.delete(key) }
    },
  }
}
