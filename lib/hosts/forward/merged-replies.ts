import type { DeletionReply } from '#lib/calls/deletion-reply.ts'
import { confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { ServiceError } from '#lib/errors.ts'
import type * as z from 'zod'
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

const compareMachines = (a: object, b: object): number =>
  readText(a, 'Name').localeCompare(readText(b, 'Name')) || readText(a, 'ID').localeCompare(readText(b, 'ID'))

const computeTag = async (text: string): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return `"${[...digest.subarray(0, 16)].map(byte => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** The machines of all hosts in the order of one list. A host that does not answer has its last known machines, with the problem. */
export const mergeMachines = async (
  answers: readonly HostAnswer[],
  getLastKnown: (hostId: string) => readonly HostMachine[],
): Promise<PreparedBody> => {
  const records = answers.flatMap((answer): readonly object[] =>
    'body' in answer
      ? toMachines(answer.body).map(record => toRecordOfHost(record, answer.host))
      : getLastKnown(answer.host.id).map(record => toStaleRecord(record, answer.host)),
  )
  const text = JSON.stringify(records.toSorted(compareMachines))
  return new PreparedBody(text, await computeTag(text))
}

/** One object of each host, with its name. For a host that does not answer, the problem. */
export const listByHost = (answers: readonly HostAnswer[]): readonly object[] =>
  answers.map(answer =>
    'body' in answer
      ? { ...Object(answer.body), host: answer.host.name }
      : { host: answer.host.name, problem: answer.error.message },
  )

/** The cached machines of the hosts that answer, most recently used first, with the names of their hosts. */
export const mergeCaches = (answers: readonly HostAnswer[]): readonly object[] =>
  answers
    .flatMap(answer => ('body' in answer ? toList(answer.body).map(item => ({ ...item, host: answer.host.name })) : []))
    .toSorted((a, b) => readText(b, 'cache_last_used').localeCompare(readText(a, 'cache_last_used')))

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
