import { isFault } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'

/** Deletes the ephemeral machines that have stopped and the machines whose time to live is over. */
export interface Deletions {
  /** Learns that the visible state of a machine has changed. */
  onStateChange(view: MachineView): void
  /** Deletes the machines whose time to live is over, and tries those again whose deletion has failed. */
  deleteDue(): void
  /** Deletes also the ephemeral machines that do not run when the service starts. */
  deleteIdle(): void
}

interface Options {
  readonly listViews: () => readonly MachineView[]
  /** Stops and deletes a machine. */
  readonly remove: (id: string) => Promise<void>
  /** Called when a machine cannot be deleted. It is tried again after a while. */
  readonly onFailed: (view: MachineView, error: unknown) => void
}

/** The most milliseconds after which a deletion that has failed is tried again. */
const maxRetryInterval = 60_000

export const createDeletions = ({ listViews, remove, onFailed }: Options): Deletions => {
  const isIdle = ({ state }: MachineView): boolean => state === 'stopped' || state === 'invalid'
  /** The ids of the machines that have run and have not stopped since. */
  const started = new Set<string>()
  /** The ids of the ephemeral machines that have stopped. */
  const due = new Set<string>()
  const running = new Set<string>()
  /** Of machines whose deletion has failed: when it is tried again, and how long after the last try, in milliseconds. */
  const retries = new Map<string, { readonly at: number; readonly interval: number }>()

  const isDue = (view: MachineView): boolean => {
    const { ephemeral, expires_at } = view.definition
    if (Date.now() < (retries.get(view.id)?.at ?? 0)) return false
    if (expires_at !== undefined && Date.parse(expires_at) <= Date.now()) return true
    // A machine that was started again meanwhile is in use.
    return ephemeral === true && due.has(view.id) && isIdle(view)
  }
  const deleteOne = async (view: MachineView): Promise<void> => {
    try {
      await remove(view.id)
      due.delete(view.id)
    } catch (error) {
      if (isFault(error, 'not-found')) return
      const interval = Math.min((retries.get(view.id)?.interval ?? 500) * 2, maxRetryInterval)
      retries.set(view.id, { at: Date.now() + interval, interval })
      onFailed(view, error)
    } finally {
      running.delete(view.id)
    }
  }
  const startDeletion = (view: MachineView): void => {
    if (running.has(view.id)) return
    running.add(view.id)
    void deleteOne(view)
  }
  const deleteDue = (): void => {
    const views = listViews()
    const ids = new Set(views.map(({ id }) => id))
    for (const known of [started, due, retries]) for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
    views.filter(isDue).forEach(startDeletion)
  }

  return {
    onStateChange(view) {
      const { id, definition } = view
      if (!definition.ephemeral) due.delete(id)
      if (!isIdle(view)) started.add(id)
      // A machine is also idle before its first start, and when that fails.
      else if (started.delete(id) && definition.ephemeral) {
        due.add(id)
        startDeletion(view)
      }
    },
    deleteDue,
    deleteIdle() {
      for (const view of listViews())
        if (!isIdle(view)) started.add(view.id)
        else if (view.definition.ephemeral) due.add(view.id)
      deleteDue()
    },
  }
}
