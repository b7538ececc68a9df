import type { LinearPattern } from '#lib/calls/linear-pattern.ts'
import { ServiceError } from '#lib/errors.ts'
import { readBootOffset } from '#lib/hypervisor/files/boot-offset.ts'
import { readSerialOutput } from '#lib/hypervisor/files/serial-output.ts'
import type { Wait, WaitContext, WaitResult } from './context.ts'
import { createChanges } from './next-change.ts'

/** Bytes that one look reads, and bytes before them that a match can begin in. */
const [blockSize, overlap] = [8 * 1024, 4 * 1024]

const parseOffset = (since: string): number => {
  if (/^\d{1,15}$/.test(since)) return Number(since)
  throw new ServiceError('invalid', 'cursor: that of a wait for serial output is a number, as the reply before had it.')
}

/** Waits until the serial output of a guest matches, from `since` or from the boot of its present run on. */
export const waitForSerial = async (
  { feeds, watchers, findView, patternSearch }: WaitContext,
  { id, since, signal, findEnd }: Wait,
  pattern: LinearPattern,
): Promise<WaitResult> => {
  const asked = since === undefined ? undefined : parseOffset(since)
  const home = findView(id)?.home
  if (home === undefined) return { end: 'gone' }
  const changes = createChanges()
  using _watcher = watchers.watch(changes.notify)
  using _feed = await feeds.open(home, changes.notify)
  let position = asked ?? (await readBootOffset(home))
  let before = Buffer.alloc(0)
  let gap: { readonly gap?: true } = {}
  for (;;) {
    // The machine is looked at first, so that the last output of a guest that has stopped is still read.
    const end = findEnd() ?? (signal.aborted ? 'timeout' : undefined)
    const { bytes, offset } = await readSerialOutput(home, position, blockSize)
    if (offset > position) gap = { gap: true }
    if (offset !== position) before = Buffer.alloc(0)
    const output = Buffer.concat([before, bytes])
    const start = offset - before.length
    const match = bytes.length > 0 ? await patternSearch(pattern, output, signal) : undefined
    if (match === 'not searched') return { end: end ?? 'timeout', cursor: String(start), ...gap }
    if (match) return { end: 'met', cursor: String(start + match.end), ...gap }
    position = offset + bytes.length
    before = Buffer.from(output.subarray(-overlap))
    if (signal.aborted || (bytes.length === 0 && end))
      // The next wait looks at the last output again, because a match can begin in it.
      return { end: end ?? 'timeout', cursor: String(position - before.length), ...gap }
    if (bytes.length === 0) await changes.next(signal)
  }
}
