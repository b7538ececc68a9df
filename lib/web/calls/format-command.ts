import { findRow, type OperationCall } from '../state/calls.ts'
import { type OperationCommand, operationCommands } from '../state/operations.ts'
import { formatPath, hasOptionLike, quote } from './format-path.ts'

type Values = ReadonlyMap<string, unknown>

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What `set` takes, as the destinations of inputs name it. */
const listSettings = (body: unknown): readonly (readonly [string, unknown])[] | undefined => {
  const operations = isMembers(body) ? body['operations'] : undefined
  if (!Array.isArray(operations)) return undefined
  return operations.map(({ group, operation, value }: Readonly<Record<string, unknown>>) => [
    `set:${String(group)}.${String(operation)}`,
    value,
  ])
}

/** The members of a request by their places in it. */
const flatten = ({ params, query, body }: OperationCall): Values => {
  const members = (place: string, value: unknown): readonly (readonly [string, unknown])[] =>
    isMembers(value) ? Object.entries(value).map(([name, member]) => [`${place}.${name}`, member]) : []
  const all = [
    ...members('params', params),
    ...members('query', query),
    ...(listSettings(body) ?? members('body', body)),
  ]
  return new Map(all.filter(([, value]) => value !== undefined))
}

/** Kinds of inputs that are files, or that the command asks for. */
const unwritten: ReadonlySet<string> = new Set(['json', 'text-file', 'bytes', 'changes', 'secret', 'connection'])

const formatInput = ([flag, , kind]: OperationCommand['inputs'][number], value: unknown): readonly string[] => {
  const texts = isMembers(value)
    ? Object.entries(value).map(([name, text]) => `${name}=${String(text)}`)
    : [value].flat().map(String)
  if (!flag.startsWith('-')) return texts.map(quote)
  const option = flag.replace(/ .*/, '')
  if (kind === 'no') return value === false ? [option] : []
  if (!flag.includes(' ')) return value === true ? [option] : []
  return texts.flatMap(text => [option, quote(text)])
}

/** The words of the operation's own command; undefined if it has none, or not everything in the request has an input. */
const formatOwnCommand = (call: OperationCall): string | undefined => {
  const command = operationCommands[call.operation]
  if (!command) return undefined
  const values = flatten(call)
  const inputs = command.inputs.filter(([, to, kind = '']) => values.has(to) && !unwritten.has(kind))
  if (inputs.length < values.size) return undefined
  const isArgument = ([flag]: OperationCommand['inputs'][number]): boolean => !flag.startsWith('-')
  const format = (chosen: typeof inputs): readonly string[] =>
    chosen.flatMap(input => formatInput(input, values.get(input[1])))
  const words = format(inputs.filter(isArgument))
  const options = format(inputs.filter(input => !isArgument(input)))
  // Words after `--` are no options, whatever they begin with.
  const ordered = hasOptionLike(words) ? [...options, '--', ...words] : [...words, ...options]
  return ['vmhost', command.words, ...ordered].join(' ')
}

/** The same call with the command line: with the command of the operation, or with `vmhost api`, which makes every call. */
export const formatCommand = (call: OperationCall): string =>
  formatOwnCommand(call) ??
  [
    'vmhost api',
    findRow(call.operation).method,
    quote(formatPath(call).replace(/^\/api\/v1/, '')),
    ...(call.body === undefined ? [] : ['--body', quote(JSON.stringify(call.body))]),
    ...(call.async ? ["--header 'Prefer: respond-async'"] : []),
  ].join(' ')
