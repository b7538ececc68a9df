import { formatByteSize } from '#lib/byte-size.ts'
import type { Column, Format } from '#lib/commands/definition.ts'
import { formatTime } from '../admin/text-table.ts'
import { getMember } from './fill-request.ts'

const formatPairs = (value: object): string =>
  Object.entries(value)
    .filter(([, each]) => each !== undefined && each !== '')
    .map(([name, each]) => `${name}=${typeof each === 'object' ? '…' : String(each)}`)
    .join(' ')

const formatItems = (items: readonly unknown[]): string =>
  items
    .map(item => {
      if (typeof item !== 'object' || item === null) return String(item)
      return 'name' in item ? String(item.name) : formatPairs(item)
    })
    .join(' ')

/** Formats a value of a reply in one line. A value that is missing is an empty text. */
export const formatValue = (value: unknown, format?: Format): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return formatItems(value)
  if (typeof value === 'object') return formatPairs(value)
  // oxlint-disable-next-line no-base-to-string -- members of JSON are nothing else here
  const text = String(value)
  if (format === 'bytes') return formatByteSize(Number(text))
  if (format === 'megabytes') return formatByteSize(Number(text) * 1_000_000)
  if (format === 'percent') return `${text}%`
  return format === 'time' ? formatTime(text) : text
}

/** Formats the value of a column. */
export const formatCell = (record: unknown, [, path, format]: Column): string =>
  formatValue(getMember(record, path), format)

const numeric: ReadonlySet<Format | undefined> = new Set(['bytes', 'megabytes', 'count', 'percent'])

/** Whether the values of a column are numbers, which stand at its right. */
export const isNumeric = ([, , format]: Column): boolean => numeric.has(format)
