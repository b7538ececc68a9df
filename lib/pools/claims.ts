import { createHash } from 'node:crypto'
import type { Principal } from '#lib/access/principal.ts'
import { findMissingRight } from '#lib/access/requirement.ts'
import { createKeyCounts } from '#lib/async/key-counts.ts'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { toExpiry } from '#lib/machines/create/lifecycle.ts'
import { watchRights } from '#lib/machines/wait/watch-rights.ts'
import { claimAccess } from './claim-access.ts'
import type { Keeper } from './keeper.ts'
import type { Line } from './line.ts'
import type { MemberRecord, PoolRecord, PoolRecords } from './records.ts'
import type { ClaimRequest } from './schemas.ts'

/** What a claim knows of its request, beside the body. */
export interface ClaimOptions {
  /** Seconds that the claim waits for a machine. */
  readonly timeout: number
  /** The Idempotency-Key, if the request has one. */
  readonly key: string | null
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
  /** Authenticates the caller again. Throws when the session has ended. */
  readonly reauthenticate: () => Promise<Principal>
}

/**
 * Gives a ready machine of a pool to the caller. If there is none, it waits in line. With the key of an earlier claim of the caller
 * it returns the machine of that claim. Throws `not-found` for an unknown pool, and `unavailable` when the time is over.
 */
export type ClaimMember = (
  pool: PoolRecord,
  caller: Principal,
  request: ClaimRequest,
  options: ClaimOptions,
) => Promise<MemberRecord>

interface Options {
  readonly records: PoolRecords
  readonly keeper: Keeper
  readonly line: Line
}

/** The most claims of one user that wait, each of which holds a connection. */
const mostWaiting = 100

/** The replies to keys are forgotten after a day, and a claimed machine may live longer: a key counts for its pool alone. */
const createDigest = ({ id }: Principal, pool: PoolRecord, key: string): string =>
  createHash('sha256').update(`${id}\0${pool.id}\0${key}`).digest('hex')

export const createClaimMember = ({ records, keeper, line }: Options): ClaimMember => {
  const waiting = createKeyCounts()

  const createEmptyError = ({ id, name, max }: PoolRecord): ServiceError => {
    const members = records.listMembers().filter(member => member.pool === id)
    const claimed = members.filter(({ state }) => state === 'claimed').length
    const problem = keeper.findProblem(id)
    const why = [
      `${claimed} of at most ${max} machines are claimed`,
      ...(problem === undefined ? [] : [`the last machine could not be made: ${problem}`]),
    ].join('; ')
    return new ServiceError('unavailable', `The pool ${name} has no machine ready in time: ${why}. Try again later.`, {
      headers: { 'Retry-After': '5' },
    })
  }
  const createLostError = ({ name }: MemberRecord): ServiceError =>
    new ServiceError('unavailable', `${name} was stopped or deleted at the moment of the claim; claim again.`, {
      headers: { 'Retry-After': '0' },
    })
  const waitInLine = async (
    pool: PoolRecord,
    caller: Principal,
    { timeout, signal, reauthenticate }: ClaimOptions,
  ): Promise<MemberRecord> => {
    if (waiting.get(caller.id) >= mostWaiting)
      throw new ServiceError(
        'unavailable',
        `You have ${mostWaiting} claims that wait, which is all that one user can have. Wait for one of them.`,
        { headers: { 'Retry-After': '5' } },
      )
    using _counted = waiting.add(caller.id)
    const authorize = (user: Principal): void => {
      const missing = findMissingRight(claimAccess, user)
      if (missing) throw new ServiceError('forbidden', `You have no right to claim machines any more.`)
    }
    using rights = watchRights({ reauthenticate, authorize })
    using limit = createTimeLimit(timeout * 1000, 'The time is over.', AbortSignal.any([signal, rights.signal]))
    const joined = line.join(pool.id, limit.signal)
    // A machine is made for each claim that waits.
    keeper.wake()
    try {
      return await joined
    } catch (error) {
      throw isFault(error, 'timeout') ? createEmptyError(pool) : error
    }
  }
  const giveTo = async (
    member: MemberRecord,
    { id: user, username }: Principal,
    { labels, ttl }: ClaimRequest,
    key: string | undefined,
  ): Promise<MemberRecord> => {
    const expiry = ttl === undefined ? {} : { expires_at: toExpiry(ttl) }
    const claim = { user, username, labels, ...expiry, key }
    let claimed: MemberRecord | undefined
    try {
      // From this commit on, the machine is that of the caller, also if the service is killed.
      claimed = await records.changeMember(member, { state: 'claimed', claim })
      await keeper.handOver(claimed)
      return claimed
    } catch (error) {
      // The caller gets an error, so nobody knows of the machine.
      if (claimed) await keeper.retire(claimed).catch(() => {})
      throw isFault(error, 'not-found') || isFault(error, 'conflict') ? createLostError(member) : error
    }
  }

  return async (pool, caller, request, options) => {
    const key = options.key === null ? undefined : createDigest(caller, pool, options.key)
    const earlier = key === undefined ? undefined : records.findByKey(key)
    if (earlier) {
      await keeper.handOver(earlier)
      return earlier
    }
    const isFirst = line.count(pool.id) === 0
    const member = (isFirst ? keeper.take(pool.id) : undefined) ?? (await waitInLine(pool, caller, options))
    try {
      options.signal.throwIfAborted()
      return await giveTo(member, caller, request, key)
    } finally {
      keeper.release(member)
    }
  }
}
