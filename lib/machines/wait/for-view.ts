import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { Wait, WaitContext, WaitResult } from './context.ts'
import { createChanges } from './next-change.ts'

/** Waits until the view of a machine fulfils a condition. */
export const waitForView = async (
  { watchers, findView }: WaitContext,
  { id, signal, findEnd }: Wait,
  holds: (view: MachineView) => boolean,
): Promise<WaitResult> => {
  const changes = createChanges()
  using _watcher = watchers.watch(changes.notify)
  for (;;) {
    const view = findView(id)
    if (view && holds(view)) return { end: 'met' }
    const end = findEnd() ?? (signal.aborted ? 'timeout' : undefined)
    if (end) return { end }
    await changes.next(signal)
  }
}
