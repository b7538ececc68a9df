import { createHash, createHmac } from 'node:crypto'
import * as z from 'zod'
import type { Every } from '#lib/async/every.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import type { IdempotentRequest } from '#lib/calls/idempotent-request.ts'
import { type Fault, ServiceError } from '#lib/errors.ts'
import type { Store, Stored } from '#lib/storage/store.ts'

/**
 * Runs the work once for its idempotency key. Later requests with the same key get the same reply, also after a restart.
 * Throws `invalid` for a malformed key, and `conflict` for a key that was used for another request, or whose reply was not
 * stored. If the first request was interrupted and is resumable, its work runs again.
 */
export type RunIdempotent = <T>(request: IdempotentRequest, work: () => Promise<T> | T) => Promise<T>

const IdempotencyRecord = z.object({
  id: z.uuid(),
  /** Digest of caller and key. */
  name: z.string(),
  caller: z.string().default(''),
  /** Digest of operation and content. It is keyed by the service's pepper, because the content may be a password. */
  content: z.string(),
  at: z.number(),
  outcome: z
    .union([
      z.object({ value: z.unknown() }),
      z.object({ fault: z.string(), message: z.string(), extra: z.record(z.string(), z.unknown()) }),
      // The reply is not stored. The name is part of the stored format.
      z.object({ untold: z.literal(true) }),
    ])
    .optional()
    .meta({ description: 'Left out while the work is running' }),
})
type IdempotencyRecord = z.infer<typeof IdempotencyRecord>

const keyPattern = /^[\x21-\x7e]{1,255}$/
const retention = 24 * 3_600_000
const cleanUpInterval = 3_600_000
const maxStored = 20_000
/** The most records of one caller, so that nobody's keys displace those of others. */
const maxPerCaller = 10_000
/** New records after which old ones are removed, besides the timer: any user can send thousands of keys. */
const cleanUpAfter = 1_000
/** The most characters of a stored reply. */
const maxReplyLength = 64 * 1024

/** Faults that are not caused by the request. It may be retried with the same key. */
const transientFaults: ReadonlySet<Fault> = new Set([
  'internal',
  'unavailable',
  'timeout',
  'upstream',
  'no-space',
  'locked-out',
])

const replay = ({ outcome }: IdempotencyRecord): unknown => {
  if (!outcome)
    throw new ServiceError(
      'conflict',
      'The first request with this Idempotency-Key was interrupted. Check whether it was done, then use a new key.',
    )
  if ('untold' in outcome)
    throw new ServiceError(
      'conflict',
      'This was done before, for the same Idempotency-Key. Its reply is not stored, because it is long or has a secret.',
    )
  // It was stored from a `ServiceError`.
  if ('fault' in outcome) throw new ServiceError(outcome.fault as Fault, outcome.message, { extra: outcome.extra })
  return outcome.value
}

/** Opens the idempotency records of a store. `pepper` is the key of the digests of requests. */
export const openIdempotency = (
  store: Store,
  { pepper, every }: { readonly pepper: Uint8Array; readonly every: Every },
): { readonly run: RunIdempotent; close(): void } => {
  const records = store.collection('idempotency', IdempotencyRecord, { unique: { name: ({ name }) => name } })
  const running = new Map<string, { readonly content: string; readonly result: Promise<unknown> }>()

  const removeOld = async (): Promise<void> => {
    const all = (await records.list()).toSorted((a, b) => b.at - a.at)
    const countByCaller = new Map<string, number>()
    const old = all.filter(({ at, name, caller }, index) => {
      const ownCount = (countByCaller.get(caller) ?? 0) + 1
      countByCaller.set(caller, ownCount)
      return !running.has(name) && (at < Date.now() - retention || index >= maxStored || ownCount > maxPerCaller)
    })
    if (old.length > 0) await store.commit(old.map(({ id }) => records.remove({ id })))
  }
  // The next clean-up repeats a failed one.
  const cleanUpTimer = every(cleanUpInterval, () => void removeOld().catch(() => undefined))

  const toOutcome = (value: unknown, secret: boolean): IdempotencyRecord['outcome'] => {
    const text = value instanceof PreparedBody ? value.text : JSON.stringify(value ?? null)
    return secret || text.length > maxReplyLength ? { untold: true } : { value: JSON.parse(text) }
  }

  let createdSinceCleanUp = 0
  const perform = async <T>(
    record: IdempotencyRecord,
    interrupted: Stored | undefined,
    secret: boolean,
    work: () => Promise<T> | T,
  ): Promise<T> => {
    createdSinceCleanUp = (createdSinceCleanUp + 1) % cleanUpAfter
    if (createdSinceCleanUp === 0) await removeOld().catch(() => undefined)
    await store.commit([...(interrupted ? [records.remove(interrupted)] : []), records.put(record)])
    const finish = async (outcome: IdempotencyRecord['outcome']): Promise<void> => {
      // The work succeeded, so the caller must not get an error. Without a stored outcome the key is refused later, so the work
      // is not done twice.
      await records
        .update(record.id, (before: IdempotencyRecord & Stored) => ({ ...before, outcome }), [], { essential: true })
        .catch(() => undefined)
    }
    let value: T
    try {
      value = await work()
    } catch (error) {
      if (error instanceof ServiceError && !transientFaults.has(error.fault))
        await finish({ fault: error.fault, message: error.message, extra: { ...error.extra } })
      else await store.commit([records.remove({ id: record.id })], { essential: true }).catch(() => undefined)
      throw error
    }
    await finish(toOutcome(value, secret))
    return value
  }

  return {
    async run({ key, caller, operation, content: requestContent, secret, resumable = false }, work) {
      if (!keyPattern.test(key))
        throw new ServiceError('invalid', 'Idempotency-Key must have 1 to 255 visible characters of ASCII.')
      const name = createHash('sha256').update(`${caller}\0${key}`).digest('hex')
      const content = createHmac('sha256', pepper)
        .update(`${operation}\0${JSON.stringify(requestContent)}`)
        .digest('hex')
      const checkSameContent = (other: string): void => {
        if (other !== content)
          throw new ServiceError('conflict', 'This Idempotency-Key was used for another request; use a new one.')
      }
      const concurrent = running.get(name)
      if (concurrent) {
        checkSameContent(concurrent.content)
        // The same operation with the same content gives the same type; this holds for the two below too.
        return concurrent.result as ReturnType<typeof work>
      }
      const stored = await records.find('name', name)
      if (stored) {
        checkSameContent(stored.content)
        if (stored.outcome || !resumable) return replay(stored) as ReturnType<typeof work>
      }
      const startedMeanwhile = running.get(name)
      if (startedMeanwhile) {
        checkSameContent(startedMeanwhile.content)
        return startedMeanwhile.result as ReturnType<typeof work>
      }
      const record = { id: crypto.randomUUID(), name, caller, content, at: Date.now() }
      const result = perform(record, stored, secret, work)
      running.set(name, { content, result })
      try {
        return await result
      } finally {
        running.delete(name)
      }
    },
    close: () => cleanUpTimer[Symbol.dispose](),
  }
}
