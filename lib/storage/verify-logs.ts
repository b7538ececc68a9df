import { messageOf } from '#lib/errors.ts'
import type { LogReader } from './log.ts'
import type { VerifiedEntry } from './verify-entries.ts'
import { firstLink, type LogBounds } from './seal-state.ts'

interface Options {
  readonly logs: ReadonlyMap<string, LogBounds>
  readonly reader: Pick<LogReader, 'bounds'>
  readonly verify: (log: string, after: VerifiedEntry, limit: number) => VerifiedEntry
  /** Called once per damaged log, with a message. */
  readonly onDamage: (what: string) => void
}

const batchSize = 100
const pause = 20
// Read at load, so that fake timers of a test do not drive the verification.
const { setTimeout: after, clearTimeout: stop } = globalThis

/**
 * Verifies in the background, in small batches, the log entries that existed at the start. There may be a million of them,
 * so the start does not wait for it. Dispose of the result to stop.
 */
export const verifyLogsInBackground = ({ logs, reader, verify, onDamage }: Options): Disposable => {
  let timer: NodeJS.Timeout | undefined
  const pending = [...logs].map(([log, { first, last }]) => ({ log, first, last }))
  const verifyBatch = (before: VerifiedEntry | undefined): void => {
    const [current] = pending
    if (!current) return
    // Entries may have been deleted meanwhile, and with them the link of the next entry.
    const first = reader.bounds(current.log)?.first ?? 1
    const from = first === 1 ? { seq: 0, link: firstLink } : { seq: first - 1, link: undefined }
    const at = before && before.seq >= from.seq ? before : from
    let verified: VerifiedEntry | undefined
    try {
      verified = at.seq < current.last ? verify(current.log, at, batchSize) : undefined
    } catch (error) {
      onDamage(`The log ${current.log} is damaged: ${messageOf(error)}. Restore a copy of the store.`)
    }
    if (!verified) pending.shift()
    timer = after(() => verifyBatch(verified), pause).unref()
  }
  timer = after(() => verifyBatch(undefined), pause).unref()
  return { [Symbol.dispose]: () => stop(timer) }
}
