import { findRow, type OperationCall } from '../state/calls.ts'

/** A word as a shell reads it. */
export const quote = (text: string): string =>
  /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** The path of a call with its query, as it is served. */
export const formatPath = ({ operation, params = {}, query = {} }: OperationCall): string => {
  const path = findRow(operation).path.replace(/\/\{(\w+)\??\}/g, (_, name: string) =>
    params[name] === undefined ? '' : `/${encodeURIComponent(params[name])}`,
  )
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length > 0 ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path
}
