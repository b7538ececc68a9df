import type { Work } from '#lib/work.ts'
import type { MachineContext } from './context.ts'

export interface AdoptedMachine {
  readonly id: string
  readonly name: string
  /** Its folder, absolute. */
  readonly home: string
}

/**
 * Makes a machine of the files that `fill` puts into a folder. Throws `conflict` for a name in use, `invalid` with what is
 * wrong with the files, what `fill` throws, and the reason of `work.signal`: then there is no machine.
 */
export const adoptMachine = async (
  { driver, inventory, names }: MachineContext,
  { name, work }: { readonly name: string; readonly work?: Work },
  fill: (folder: string) => Promise<void>,
): Promise<AdoptedMachine> => {
  const signal = work?.signal
  using _name = names.reserve(name)
  signal?.throwIfAborted()
  const view = await driver.adopt(name, async folder => {
    await fill(folder)
    signal?.throwIfAborted()
  })
  // It was made while somebody gave it up; nobody has seen it yet.
  if (signal?.aborted) {
    await driver.remove(view.id)
    throw signal.reason
  }
  inventory.accept(view)
  return { id: view.id, name, home: view.home }
}
