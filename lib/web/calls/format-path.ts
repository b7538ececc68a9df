import { findRow, type OperationCall } from '../state/calls.ts'

/** A word as a shell reads it. One that begins with `=` names a program in zsh. */
export const quote = (text: string): string =>
  /^(?!=)[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** True if one of these quoted words looks like an option of a command. */
export const hasOptionLike = (words: readonly string[]): boolean => words.some(word => /^'?-/.test(word))

/** The path of a call with its query, as it is served. */
export const formatPath = ({ operation, params = {}, query = {} }: OperationCall): string => {
  const path = findRow(operation).path.replace(/\/\{(\w+)\??\}/g, (_, name: string) =>
    params[name] === undefined ? '' : `/${encodeURIComponent(params[name])}`,
  )
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length > 0 ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path
}
