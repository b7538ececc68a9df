import { readTable, type Row } from '#lib/client/table.ts'
import { client } from './service.ts'

/** A call of one operation, as data: the page can make it, and show how others make it. */
export interface OperationCall {
  /** Its name in the OpenAPI document, such as `machines.start`. */
  readonly operation: string
  readonly params?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Runs as a job: the reply is the job. */
  readonly async?: true
}

type Operations = Record<string, Record<string, (request: unknown) => Promise<unknown>>>

const rows = new Map(readTable().map(row => [`${row.area}.${row.name}`, row]))

const findRow = (operation: string): Row => {
  const row = rows.get(operation)
  if (!row) throw new Error(`There is no operation ${operation}.`)
  return row
}

/** Makes a call, and gives the reply. Throws the refusal of the service. */
export const makeCall = async ({ operation, ...request }: OperationCall): Promise<unknown> => {
  const { area, name } = findRow(operation)
  // The names are those of the client's table.
  return (client.api as unknown as Operations)[area]![name]!(request)
}

const quote = (text: string): string => (/^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The path of a call with its query, as it is served. */
const formatPath = ({ operation, params = {}, query = {} }: OperationCall): string => {
  const path = findRow(operation).path.replace(/\/\{(\w+)\??\}/g, (_, name: string) =>
    params[name] === undefined ? '' : `/${encodeURIComponent(params[name])}`,
  )
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length > 0 ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path
}

/** The same call with curl. The token is in a variable, so that it is in no history. */
export const formatCurl = (call: OperationCall): string => {
  const { method } = findRow(call.operation)
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    '-H "Authorization: Bearer $TOKEN"',
    ...(call.async ? ["-H 'Prefer: respond-async'"] : []),
    ...(call.body === undefined ? [] : ["-H 'Content-Type: application/json'", '-d', quote(JSON.stringify(call.body))]),
    quote(location.origin + formatPath(call)),
  ]
  return parts.join(' ')
}

const formatValue = (value: unknown): string =>
  JSON.stringify(value, undefined, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/"(\w+)":/g, '$1:')

/** The same call with the typed client, in TypeScript. */
export const formatClient = ({ operation, ...request }: OperationCall): string => {
  const given = Object.entries(request).filter(([, value]) => value !== undefined)
  return `await client.api.${operation}(${given.length > 0 ? formatValue(Object.fromEntries(given)) : ''})`
}
