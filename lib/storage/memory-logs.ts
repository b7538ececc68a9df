import type { LogRow } from './rows.ts'
import type { LogReader } from './log.ts'

/** Makes logs that are held only in memory, for stores without a log of their own. */
export const createMemoryLogs = (): LogReader & { write(rows: readonly LogRow[]): void } => {
  const logs = new Map<string, Map<number, string>>()
  const getRows = (log: string): Map<number, string> => logs.get(log) ?? new Map<number, string>()
  return {
    bounds(log) {
      const numbers = [...getRows(log).keys()]
      const [first, last] = [numbers[0], numbers.at(-1)]
      return first === undefined || last === undefined ? undefined : { first, last }
    },
    read(log, { from, to, limit, newestFirst }) {
      const inRange = [...getRows(log)].filter(([seq]) => seq >= from && seq <= to)
      const ordered = newestFirst ? inRange.toReversed() : inRange
      return ordered.slice(0, limit).map(([seq, value]) => ({ seq, value }))
    },
    write(rows) {
      for (const { log, seq, value } of rows) {
        const entries = getRows(log)
        if (value !== undefined) entries.set(seq, value)
        else for (const number of entries.keys()) if (number <= seq) entries.delete(number)
        logs.set(log, entries)
      }
    },
  }
}
