import { existsSync } from 'node:fs'
import { isFault } from '#lib/errors.ts'
import { type ChangesSinceCopy, compareWithCopy } from '#lib/storage/copies/compare.ts'
import type { StoreCopy } from '#lib/storage/copies/list.ts'
import { verifyCopy } from '#lib/storage/copies/verify.ts'
import { getStoreFile } from '#lib/storage/open-store.ts'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'
import { formatValue } from '../definitions/format-value.ts'
import { fitTable } from './fit-table.ts'
import { formatTable, formatTime } from './text-table.ts'

/** Formats copies of the store as a table. */
export const formatCopies = (copies: readonly StoreCopy[]): string =>
  copies.length === 0
    ? 'There are no copies of the store.'
    : fitTable({
        heads: ['MADE', 'SIZE', 'REASON', 'FILE'],
        rows: copies.map(({ file, reason, made_at: madeAt, size }) => [
          formatTime(madeAt),
          formatValue(size, 'bytes'),
          reason,
          file,
        ]),
        isRight: column => column === 1,
        output: process.stdout,
      })

const formatChanges = ({ collections, entries }: ChangesSinceCopy): string => {
  if (collections.length + entries.length === 0) return 'Nothing has changed since this copy was made.'
  const rows = [
    ...collections.map(({ collection, added, changed, deleted }) => [
      `  ${collection}`,
      `${added} added, ${changed} changed, ${deleted} deleted`,
    ]),
    ...entries.map(({ log, count }) => [`  entries of ${log}`, `${count} added`]),
  ]
  return `Since this copy was made, and not in it:\n${formatTable(rows)}`
}

/** Describes what a restore of a copy takes back. Throws what `verifyCopy` throws. */
export const describeChanges = async (
  folder: string,
  copy: string,
  secrets: SealSecrets | undefined,
): Promise<string> => {
  if (!existsSync(getStoreFile(folder))) {
    await verifyCopy(copy, secrets)
    return `There is no store in ${folder}, so nothing is replaced.`
  }
  try {
    return formatChanges(await compareWithCopy(folder, copy, secrets))
  } catch (error) {
    if (!isFault(error, 'unavailable')) throw error
    return `Nobody knows what is lost. ${error.message}`
  }
}
