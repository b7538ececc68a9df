import { abortableAfterGrace } from '#lib/async/abortable.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'

export interface ImportedMachine {
  readonly id: string
  readonly name: string
  /** Its folder, absolute. */
  readonly home: string
}

/**
 * Imports a machine from the files that `populate` writes into a folder. `populate` must heed the signal of `progress`. The id of
 * the job becomes the id of the machine, so a job that is resumed after a kill finds the machine that it has made. Throws
 * `conflict` for a name in use, `invalid` with the fault of the files, what `populate` throws, and the reason of the signal; then
 * no machine is left.
 */
export const importMachine = async (
  { driver, inventory, names }: MachineContext,
  {
    name,
    owner,
    progress,
  }: { readonly name: string; readonly owner?: { readonly id: string }; readonly progress?: ProgressReporter },
  populate: (folder: string) => Promise<void>,
): Promise<ImportedMachine> => {
  const { id = crypto.randomUUID(), signal } = progress ?? {}
  using _reservation = names.reserve(name, id)
  signal?.throwIfAborted()
  const existing = inventory.listViews().find(view => view.id === id)
  if (existing) return { id, name, home: existing.home }
  const view = await driver.import({ id, name, owner: owner?.id }, async folder => {
    await abortableAfterGrace(signal, populate(folder))
    signal?.throwIfAborted()
  })
  // The import was cancelled while the driver created the machine. Nobody has seen the machine yet.
  if (signal?.aborted) {
    await driver.remove(id)
    throw signal.reason
  }
  inventory.update(view)
  return { id, name, home: view.home }
}
