import { formatCursor } from '#lib/events/cursor.ts'
import type { Wait, WaitContext, WaitResult } from './context.ts'
import { createChanges } from './next-change.ts'

/** Events that are read at a time. */
const batchSize = 500

/**
 * Waits for an event about a machine, after the cursor `since` or from now on. The caller has checked the rights for events of this
 * kind, so the audience of an event is not asked again.
 */
export const waitForEvent = async (
  { events, findView, watchers, flushEvents }: WaitContext,
  { id, since, signal, findEnd }: Wait,
  message: string,
): Promise<WaitResult> => {
  const changes = createChanges()
  using _commits = events.onCommit(changes.notify)
  using _watcher = watchers.watch(changes.notify)
  const resolved = since === undefined ? { cursor: events.head(), gap: false } : events.resolveCursor(since)
  const gap = resolved.gap ? ({ gap: true } as const) : {}
  const { epoch } = resolved.cursor
  let { seq } = resolved.cursor
  const format = (): string => formatCursor({ epoch, seq })
  for (;;) {
    const isGone = findView(id) === undefined
    const end = findEnd() ?? (signal.aborted ? 'timeout' : undefined)
    // The event of a deletion is stored after the machine has left the inventory.
    if (isGone) await flushEvents()
    for (;;) {
      const entries = events.entries({ epoch, seq }, batchSize)
      const found = entries.find(event => event.message === message && event.body?.['vm_id'] === id)
      seq = (found ?? entries.at(-1))?.seq ?? seq
      if (found) return { end: 'met', cursor: format(), ...gap }
      if (entries.length === 0) break
    }
    if (end) return { end, cursor: format(), ...gap }
    await changes.next(signal)
  }
}
