import { createHash, createHmac } from 'node:crypto'
import * as z from 'zod'
import { Encoded } from '#lib/http/encoded.ts'
import type { OnceRequest } from '#lib/http/options.ts'
import { type Fault, ServiceError } from '#lib/errors.ts'
import type { Store, Stored } from '#lib/storage/store.ts'

/**
 * Does a piece of work once for its key, and gives whoever comes later with the same key the same answer, also after a
 * restart. Throws `invalid` for a key that is none, and `conflict` for one that was used for something else, or whose
 * answer is not there.
 */
export type RunOnce = <T>(once: OnceRequest, work: () => Promise<T> | T) => Promise<T>

const Kept = z.object({
  id: z.uuid(),
  /** Digest of caller and key. */
  name: z.string(),
  caller: z.string().default(''),
  /** Digest of operation and content, by a key of this service: a content may be a password. */
  content: z.string(),
  at: z.number(),
  outcome: z
    .union([
      z.object({ value: z.unknown() }),
      z.object({ fault: z.string(), message: z.string(), extra: z.record(z.string(), z.unknown()) }),
      z.object({ untold: z.literal(true) }),
    ])
    .optional()
    .meta({ description: 'Not there while the work is done' }),
})
type Kept = z.infer<typeof Kept>

const keyForm = /^[\x21-\x7e]{1,255}$/
const memory = 24 * 3_600_000
const cleanEvery = 3_600_000
const mostKept = 20_000
/** Of one caller, so that nobody's keys push out those of others. */
const mostOfOne = 10_000
/** New ones after which it is looked whether there are too many: anybody signed in can send them by the thousand. */
const lookAfter = 1_000
/** Characters of an answer that are kept. */
const longest = 64 * 1024

/** Faults that say nothing of the request: it may be tried again. */
const passing: ReadonlySet<Fault> = new Set([
  'internal',
  'unavailable',
  'timeout',
  'upstream',
  'no-space',
  'locked-out',
])

const replay = ({ outcome }: Kept): unknown => {
  if (!outcome)
    throw new ServiceError(
      'conflict',
      'The first request with this Idempotency-Key was cut off. Look whether it was done, then use a new key.',
    )
  if ('untold' in outcome)
    throw new ServiceError(
      'conflict',
      'This was done before, for the same Idempotency-Key; its answer is not kept, because it is long or held a secret.',
    )
  if ('fault' in outcome) throw new ServiceError(outcome.fault as Fault, outcome.message, { extra: outcome.extra })
  return outcome.value
}

/** `pepper`: keys the digests of what requests held. */
export const openIdempotency = (store: Store, pepper: Uint8Array): { readonly run: RunOnce; close(): void } => {
  const kept = store.collection('idempotency', Kept, { unique: { name: ({ name }) => name } })
  const running = new Map<string, { readonly content: string; readonly result: Promise<unknown> }>()

  const forgetOld = async (): Promise<void> => {
    const all = (await kept.list()).toSorted((a, b) => b.at - a.at)
    const of = new Map<string, number>()
    const old = all.filter(({ at, name, caller }, index) => {
      const theirs = (of.get(caller) ?? 0) + 1
      of.set(caller, theirs)
      return !running.has(name) && (at < Date.now() - memory || index >= mostKept || theirs > mostOfOne)
    })
    if (old.length > 0) await store.commit(old.map(({ id }) => kept.remove({ id })))
  }
  // What cannot be forgotten now is forgotten later.
  const cleaning = setInterval(() => void forgetOld().catch(() => undefined), cleanEvery)
  cleaning.unref()

  const outcomeOf = (value: unknown, secret: boolean): Kept['outcome'] => {
    const text = value instanceof Encoded ? value.text : JSON.stringify(value ?? null)
    return secret || text.length > longest ? { untold: true } : { value: JSON.parse(text) }
  }

  let since = 0
  const perform = async <T>(record: Kept, secret: boolean, work: () => Promise<T> | T): Promise<T> => {
    since = (since + 1) % lookAfter
    if (since === 0) await forgetOld().catch(() => undefined)
    await store.commit([kept.put(record)])
    const finish = async (outcome: Kept['outcome']): Promise<void> => {
      await kept.update(record.id, (before: Kept & Stored) => ({ ...before, outcome }))
    }
    try {
      const value = await work()
      await finish(outcomeOf(value, secret))
      return value
    } catch (error) {
      if (error instanceof ServiceError && !passing.has(error.fault))
        await finish({ fault: error.fault, message: error.message, extra: { ...error.extra } })
      else await store.commit([kept.remove({ id: record.id })])
      throw error
    }
  }

  return {
    async run({ key, caller, operation, content: asked, secret }, work) {
      if (!keyForm.test(key))
        throw new ServiceError('invalid', 'Idempotency-Key must have 1 to 255 visible characters of ASCII.')
      const name = createHash('sha256').update(`${caller}\0${key}`).digest('hex')
      const content = createHmac('sha256', pepper)
        .update(`${operation}\0${JSON.stringify(asked)}`)
        .digest('hex')
      const refuseOther = (other: string): void => {
        if (other !== content)
          throw new ServiceError('conflict', 'This Idempotency-Key was used for another request; use a new one.')
      }
      const same = running.get(name)
      if (same) {
        refuseOther(same.content)
        return same.result as ReturnType<typeof work>
      }
      const known = await kept.find('name', name)
      if (known) {
        refuseOther(known.content)
        return replay(known) as ReturnType<typeof work>
      }
      const again = running.get(name)
      if (again) {
        refuseOther(again.content)
        return again.result as ReturnType<typeof work>
      }
      const result = perform({ id: crypto.randomUUID(), name, caller, content, at: Date.now() }, secret, work)
      running.set(name, { content, result })
      try {
        return await result
      } finally {
        running.delete(name)
      }
    },
    close: () => clearInterval(cleaning),
  }
}
