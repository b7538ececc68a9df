import type { Column, CommandDefinition } from '#lib/commands/definition.ts'
import { fitTable } from '../admin/fit-table.ts'
import { escapeControls, formatJson, formatTable } from '../admin/text-table.ts'
import { getMember } from './fill-request.ts'
import { formatCell, formatValue, isNumeric } from './format-value.ts'

/** How a reply is printed. */
export interface PrintOptions {
  readonly json?: true
  /** Paths of the members to show, separated by commas. */
  readonly fields?: string
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isAccepted = (reply: unknown): reply is { readonly message: string } =>
  isRecord(reply) &&
  typeof reply['message'] === 'string' &&
  Object.keys(reply).every(key => key === 'message' || key === 'code')

const selectFields = (value: unknown, fields: readonly string[]): unknown =>
  Array.isArray(value)
    ? value.map(each => selectFields(each, fields))
    : Object.fromEntries(fields.map(path => [path, getMember(value, path)]))

const toHead = (name: string): string => name.replaceAll('_', ' ').toUpperCase()

const formatList = (items: readonly unknown[], columns: readonly Column[]): string =>
  fitTable({
    heads: columns.map(([head]) => head),
    rows: items.map(item => columns.map(column => formatCell(item, column))),
    isRight: column => isNumeric(columns[column] ?? ['', '']),
    output: process.stdout,
  })

/** Formats a list of which no columns are known: those are its members that are no lists. */
const formatAnyList = (items: readonly unknown[]): string => {
  if (!items.every(isRecord)) return items.map(item => escapeControls(formatValue(item))).join('\n')
  const names = [...new Set(items.flatMap(item => Object.keys(item)))]
  return formatList(
    items,
    names.map(name => [toHead(name), name]),
  )
}

const formatRows = (record: unknown, rows: readonly Column[]): string =>
  formatTable(rows.map(row => [row[0], formatCell(record, row)]).filter(([, value]) => value !== ''))

/** Formats a record with all of its members. Lists of records come after the other members, as tables. */
const formatAnyRecord = (record: Record<string, unknown>): string => {
  const isTable = ([, value]: readonly [string, unknown]): boolean => Array.isArray(value) && value.some(isRecord)
  const members = Object.entries(record)
  const rows = members.filter(member => !isTable(member)).map(([name]) => [name.replaceAll('_', ' '), name] as const)
  const tables = members
    .filter(isTable)
    .map(([name, items]) => `\n${toHead(name)}\n${formatAnyList(items as unknown[])}`)
  return [formatRows(record, rows), ...tables].join('\n')
}

const fillTemplate = (template: string, reply: unknown, words: Readonly<Record<string, string>>): string =>
  template.replace(/\{([\w-]+)\}/g, (_, name: string) =>
    escapeControls(formatValue(getMember(reply, name) ?? words[name])),
  )

const formatReply = (
  definition: CommandDefinition,
  reply: unknown,
  words: Readonly<Record<string, string>>,
): string => {
  const { columns, rows, says, prints, empty = 'There is nothing.' } = definition
  if (prints !== undefined) return String(getMember(reply, prints)).trimEnd()
  if (says !== undefined) return fillTemplate(says, reply, words)
  if (typeof reply === 'string') return reply.trimEnd()
  if (isAccepted(reply)) return escapeControls(reply.message)
  if (Array.isArray(reply)) {
    if (reply.length === 0) return empty
    if (rows) return reply.map(record => formatRows(record, rows)).join('\n\n')
    return columns ? formatList(reply, columns) : formatAnyList(reply)
  }
  if (rows) return formatRows(reply, rows)
  return isRecord(reply) ? formatAnyRecord(reply) : escapeControls(formatValue(reply))
}

/**
 * Prints the reply of an operation: as JSON, as a table of the fields that the user names, or as the command defines it.
 * @param words the arguments by their names, for a message
 */
export const printReply = (
  definition: CommandDefinition,
  whole: unknown,
  words: Readonly<Record<string, string>>,
  { json, fields }: PrintOptions,
): void => {
  const reply = definition.items === undefined ? whole : getMember(whole, definition.items)
  const names = fields?.split(',').filter(Boolean)
  if (json) return console.log(formatJson(names ? selectFields(reply, names) : whole))
  if (!names) return console.log(formatReply(definition, reply, words))
  const columns = names.map((name): Column => [toHead(name), name])
  console.log(Array.isArray(reply) ? formatList(reply, columns) : formatRows(reply, columns))
}
