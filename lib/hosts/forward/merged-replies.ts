import type { DeletionReply } from '#lib/calls/deletion-reply.ts'
import { confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { ServiceError } from '#lib/errors.ts'
import type * as z from 'zod'
import type { SelectionQuery } from '#lib/calls/selection/selection-query.ts'
import { createFieldPicker } from '#lib/calls/selection/pick-fields.ts'
import { compareItems, formatNextLink, selectPage } from '#lib/calls/selection/select.ts'
import type { HostMachine } from '../heartbeat-schemas.ts'
import { toRecordOfHost, toStaleRecord } from '../machine-records.ts'
import type { HostAnswer } from './every-host.ts'

const toList = (body: unknown): readonly object[] =>
  Array.isArray(body) ? body.filter((item: unknown): item is object => typeof item === 'object' && item !== null) : []

/** The records of machines in a list. What is none is left out, so that a host can spoil its own part of the list alone. */
const toMachines = (body: unknown): readonly object[] =>
  toList(body).filter(item => readText(item, 'ID') !== '' && readText(item, 'Name') !== '')

const readText = (item: object, name: string): string => {
  const value: unknown = Reflect.get(item, name)
  return typeof value === 'string' ? value : ''
}

/** What the selection of a list needs to know of a record. A host decides only its own labels, as it decides its records. */
const toListedMachine = (record: object) => {
  const labels: unknown = Reflect.get(record, 'labels')
  return {
    record,
    name: readText(record, 'Name'),
    id: readText(record, 'ID'),
    labels: Object.fromEntries(
      Object.entries(Object(labels)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  }
}

const computeTag = async (text: string): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return `"${[...digest.subarray(0, 16)].map(byte => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** Which part of a list is wanted. */
interface ListSelection {
  readonly query: SelectionQuery
  /** That of the list, for the `Link` to the next page. */
  readonly path: `/${string}`
  /** The names that an item can have. */
  readonly members: ReadonlySet<string>
}

/** The machines of all hosts in the order of one list, as far as the query selects them. A host that does not answer has its last known machines, with the problem. */
export const mergeMachines = async (
  answers: readonly HostAnswer[],
  getLastKnown: (hostId: string) => readonly HostMachine[],
  { query, path, members }: ListSelection,
): Promise<PreparedBody> => {
  const pickFields = createFieldPicker(query.fields, members)
  const records = answers.flatMap((answer): readonly object[] =>
    'body' in answer
      ? toMachines(answer.body).map(record => toRecordOfHost(record, answer.host))
      : getLastKnown(answer.host.id).map(record => toStaleRecord(record, answer.host)),
  )
  const { items, next } = selectPage(records.map(toListedMachine).toSorted(compareItems), query)
  const text = JSON.stringify(items.map(({ record }) => pickFields(record)))
  return new PreparedBody(text, await computeTag(text), formatNextLink(path, next))
}

/** One object of each host, with its name. For a host that does not answer, the problem. */
export const listByHost = (answers: readonly HostAnswer[]): readonly object[] =>
  answers.map(answer =>
    'body' in answer
      ? { ...Object(answer.body), host: answer.host.name }
      : { host: answer.host.name, problem: answer.error.message },
  )

/** The items in the lists of the hosts that answer, with the names of their hosts. */
const joinLists = (answers: readonly HostAnswer[]): readonly object[] =>
  answers.flatMap(answer =>
    'body' in answer ? toList(answer.body).map(item => ({ ...item, host: answer.host.name })) : [],
  )

/** The cached machines of the hosts that answer, most recently used first, with the names of their hosts. */
export const mergeCaches = (answers: readonly HostAnswer[]): readonly object[] =>
  joinLists(answers).toSorted((a, b) => readText(b, 'cache_last_used').localeCompare(readText(a, 'cache_last_used')))

/** The images or pools of the hosts that answer, ordered by name, with the names of their hosts. */
export const mergeNamed = (answers: readonly HostAnswer[]): readonly object[] =>
  joinLists(answers).toSorted((a, b) => readText(a, 'name').localeCompare(readText(b, 'name')))

/** The reply to a deletion on all hosts: what each has said. Throws the refusal when no host has deleted anything. */
export const mergeDeletions = (answers: readonly HostAnswer[]): z.infer<typeof DeletionReply> => {
  const done = answers.filter(answer => 'body' in answer)
  const failed = answers.filter(answer => 'error' in answer)
  if (done.length === 0)
    throw (
      failed.find(({ error }) => error.fault !== 'not-found')?.error ??
      failed[0]?.error ??
      new ServiceError('unavailable', 'This service has no hosts yet. Register one first.')
    )
  const texts = [
    ...done.map(({ host, body }) => `${host.name}: ${readText(Object(body), 'message')}`),
    // A host without such an item has nothing to delete.
    ...failed
      .filter(({ error }) => error.fault !== 'not-found')
      .map(({ host, error }) => `${host.name}: ${error.message}`),
  ]
  return confirmDeletion(texts.join(' '))
}
