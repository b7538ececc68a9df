import type * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { checkName } from './keys.ts'
import type { LogRow } from './rows.ts'
import type { Log, LogWrite, Numbered } from './store.ts'
import type { Undo } from './table.ts'

/** Reads the rows of logs. */
export interface LogReader {
  /** The numbers of the oldest and the newest row; undefined without any. */
  bounds(log: string): { readonly first: number; readonly last: number } | undefined
  /** Rows with `from` <= seq <= `to`: the first `limit` of them, or the last ones, newest first. */
  read(
    log: string,
    range: { readonly from: number; readonly to: number; readonly limit: number; readonly newestFirst: boolean },
  ): readonly { readonly seq: number; readonly value: string }[]
}

/** A log for its users, and the function by which a commit applies a write to it. */
export interface OpenLog<T extends object> {
  readonly log: Log<T>
  applyWrite(write: LogWrite): { readonly row: LogRow; readonly undo: Undo }
}

/** Opens a log. `onDamage` is called with a message when entries cannot be read. Throws when the last entry cannot be read. */
export const openLog = <T extends object>(
  name: string,
  schema: z.ZodType<T>,
  reader: LogReader,
  onDamage: (message: string) => void,
): OpenLog<T> => {
  checkName(name)
  const parse = (seq: number, value: string): Numbered<T> => {
    const parsed = schema.safeParse(JSON.parse(value))
    if (!parsed.success) throw new Error(`entry ${name} ${seq} does not match its schema`)
    return { ...parsed.data, seq }
  }
  const read = (from: number, to: number, limit: number, newestFirst: boolean): readonly Numbered<T>[] => {
    try {
      return reader.read(name, { from, to, limit, newestFirst }).map(({ seq, value }) => parse(seq, value))
    } catch (error) {
      const message = `The log ${name} cannot be read: ${messageOf(error)}. Restore a copy of the store.`
      onDamage(message)
      throw new ServiceError('internal', message, { cause: error })
    }
  }

  const bounds = reader.bounds(name)
  let head = bounds?.last ?? 0
  let first = bounds?.first ?? 1
  let last = bounds && read(head, head, 1, false)[0]

  const append = (entry: NonNullable<LogWrite['append']>): { row: LogRow; undo: Undo } => {
    const [before, seq] = [last, head + 1]
    const value = JSON.stringify(entry(seq, before))
    // Parsed as it will be read later, so that an entry that the schema refuses is not stored.
    last = parse(seq, value)
    head = seq
    return {
      row: { log: name, seq, value },
      undo() {
        head = seq - 1
        last = before
      },
    }
  }
  const forget = (upTo: number): { row: LogRow; undo: Undo } => {
    const before = first
    const seq = Math.min(upTo, head - 1)
    first = Math.max(first, seq + 1)
    return { row: { log: name, seq, value: undefined }, undo: () => void (first = before) }
  }

  return {
    log: {
      // Only entries of this log reach it, and they have its type.
      append: entry => ({ log: name, append: entry as NonNullable<LogWrite['append']> }),
      read: (after, limit) => read(Math.max(after + 1, first), head, limit, false),
      readBack: (before, limit) => read(first, Math.min(before - 1, head), limit, true),
      head: () => head,
      first: () => first,
      forget: upTo => ({ log: name, forgetUpTo: upTo }),
    },
    applyWrite: write => (write.append ? append(write.append) : forget(write.forgetUpTo ?? 0)),
  }
}
