import { abortableAfterGrace } from '#lib/async/abortable.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'

export interface AdoptedMachine {
  readonly id: string
  readonly name: string
  /** Its folder, absolute. */
  readonly home: string
}

/**
 * Makes a machine of the files that `fill` puts into a folder. It has the id of the work: work that comes again after the
 * service was killed finds what it had made. Throws `conflict` for a name in use, `invalid` with what is wrong with the
 * files, what `fill` throws, and the reason of `work.signal`: then there is no machine.
 */
export const adoptMachine = async (
  { driver, inventory, names }: MachineContext,
  { name, work }: { readonly name: string; readonly work?: ProgressReporter },
  fill: (folder: string) => Promise<void>,
): Promise<AdoptedMachine> => {
  const { id = crypto.randomUUID(), signal } = work ?? {}
  using _name = names.reserve(name, id)
  signal?.throwIfAborted()
  const made = inventory.all().find(view => view.id === id)
  if (made) return { id, name, home: made.home }
  const view = await driver.import({ id, name }, async folder => {
    await abortableAfterGrace(signal, fill(folder))
    signal?.throwIfAborted()
  })
  // It was made while somebody gave it up; nobody has seen it yet.
  if (signal?.aborted) {
    await driver.remove(id)
    throw signal.reason
  }
  inventory.accept(view)
  return { id, name, home: view.home }
}
