import type { CommandDefinition, Destination, Input } from '#lib/commands/definition.ts'
import { readValue } from './read-value.ts'

/** The request of an operation, as the typed client takes it. */
export interface OperationRequest {
  readonly params?: Record<string, string>
  readonly query?: Record<string, unknown>
  readonly body?: unknown
  readonly filter?: string
}

type Members = Record<string, unknown>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Puts a value into nested objects, and makes those that are missing. */
const setMember = (members: Members, [first = '', ...rest]: readonly string[], value: unknown): void => {
  if (rest.length === 0) {
    members[first] = value
    return
  }
  const inner = members[first]
  const nested: Members = isMembers(inner) ? inner : {}
  members[first] = nested
  setMember(nested, rest, value)
}

const addOperation = (request: Members, operation: object): void => {
  const body = (request['body'] ??= {}) as { operations?: object[] }
  body.operations = [...(body.operations ?? []), operation]
}

const put = (request: Members, to: Destination, value: unknown): void => {
  const [, group, operation] = /^set:(.+)\.(.+)$/.exec(to) ?? []
  if (group !== undefined) addOperation(request, { group, operation, value })
  else if (to === 'body.operations') for (const each of value as readonly object[]) addOperation(request, each)
  else setMember(request, to.split('.'), value)
}

/** Returns what a request has at a destination. */
export const getMember = (request: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Members | null | undefined)?.[name], request)

/**
 * Makes the request of a command.
 * @param given the values of the inputs that the command line has. The whole body comes first: the others replace its members.
 * @throws UsageError for a value that is not of its kind
 */
export const fillRequest = async (
  { fixed = {} }: CommandDefinition,
  given: readonly (readonly [Input, unknown])[],
): Promise<OperationRequest> => {
  const request: Members = {}
  const ordered = given.toSorted(([one], [other]) => Number(other.to === 'body') - Number(one.to === 'body'))
  for (const [input, value] of ordered) put(request, input.to, await readValue(input, value))
  for (const [to, value] of Object.entries(fixed)) put(request, to as Destination, value)
  return request
}
