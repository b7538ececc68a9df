import type { LogRow } from './keys.ts'
import type { LogReader } from './log.ts'

/** Logs that are kept in memory alone, for stores that are. */
export const memoryLogs = (): LogReader & { write(rows: readonly LogRow[]): void } => {
  const logs = new Map<string, Map<number, string>>()
  const rowsOf = (log: string): Map<number, string> => logs.get(log) ?? new Map<number, string>()
  return {
    bounds(log) {
      const numbers = [...rowsOf(log).keys()]
      return numbers.length === 0 ? undefined : { first: numbers[0]!, last: numbers.at(-1)! }
    },
    read(log, { from, to, limit, newestFirst }) {
      const inRange = [...rowsOf(log)].filter(([seq]) => seq >= from && seq <= to)
      const ordered = newestFirst ? inRange.toReversed() : inRange
      return ordered.slice(0, limit).map(([seq, value]) => ({ seq, value }))
    },
    write(rows) {
      for (const { log, seq, value } of rows) {
        const kept = rowsOf(log)
        if (value !== undefined) kept.set(seq, value)
        else for (const number of kept.keys()) if (number <= seq) kept.delete(number)
        logs.set(log, kept)
      }
    },
  }
}
