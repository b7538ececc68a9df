import { ServiceError } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { OwnLocks } from './own-locks.ts'

/**
 * A lock on the chunks of a provider. Its objects on the provider keep those who write chunks and the one who removes chunks
 * apart, on whichever hosts they run. Each writes its own object before it looks for others. So if two begin at once, at
 * least one of them sees the other and gives up, and a chunk that a writer has found cannot be removed before the index of
 * the writer is visible.
 */
export interface RepositoryLock extends AsyncDisposable {
  /** Keeps the lock valid. Throws `conflict` when it has not been renewed for so long that others may have started. */
  renew(): Promise<void>
}

/** Those who write chunks share the lock. Who removes chunks has it exclusively. */
export type LockMode = 'shared' | 'exclusive'

export const lockFolder = 'chunks/holds'

/** How long a lock is valid. It is renewed when half of that has passed. */
export const lockMilliseconds = 10 * 60_000

/** How long others respect an expired lock, because the clocks of hosts can differ by as much. */
export const slackMilliseconds = 10 * 60_000

/** How long a provider may still carry out requests of a process that was killed. */
export const lateRequestMilliseconds = 60_000

/** The words for the modes in the names of lock objects, which services of all versions share. */
const modeNames: Readonly<Record<LockMode, string>> = { shared: 'write', exclusive: 'sweep' }

/** The name of a lock object: the mode, the id of the lock, and its end in milliseconds since 1970. */
const lockName = /^chunks\/holds\/(write|sweep)-([0-9a-f-]{36})-(\d{1,16})$/

const conflictMessages: Readonly<Record<LockMode, string>> = {
  shared: 'A push is writing chunks to this storage. Try again when it has ended.',
  exclusive: 'Unused chunks are being removed from this storage. Try again when that has ended.',
}

/**
 * Says whether a lock has expired. If its end is further away than any lock lasts, the age of its object decides: otherwise
 * a host whose clock is years ahead would lock out the others for years.
 */
const isExpired = (end: number, modifiedAt: string | undefined): boolean => {
  const isPossible = end <= Date.now() + lockMilliseconds + slackMilliseconds
  const latestEnd =
    isPossible || modifiedAt === undefined ? end : Date.parse(modifiedAt) + lockMilliseconds + slackMilliseconds
  return latestEnd + slackMilliseconds < Date.now()
}

/**
 * Acquires a lock, which ends when it is disposed of. Locks that a killed process of this service has left do not count;
 * `ownLocks` knows them. Throws `conflict` while there is another lock that excludes this one.
 */
export const acquireRepositoryLock = async (
  provider: Provider,
  mode: LockMode,
  signal?: AbortSignal,
  ownLocks?: OwnLocks,
): Promise<RepositoryLock> => {
  const id = crypto.randomUUID()
  /** The two newest objects of this lock, so that a listing during a renewal finds at least one. */
  const paths: string[] = []
  let renewedAt = { wall: 0, monotonic: 0 }
  /** Returns the milliseconds since the last renewal by the clock that says more, because somebody may set the wall clock back. */
  const getAge = (): number => Math.max(Date.now() - renewedAt.wall, performance.now() - renewedAt.monotonic)

  /** Returns whether the object could be removed. One that could not expires by itself. */
  const removeObject = async (path: string): Promise<boolean> =>
    provider.remove(path).then(
      () => true,
      () => false,
    )
  const writeObject = async (): Promise<void> => {
    const now = { wall: Date.now(), monotonic: performance.now() }
    const end = now.wall + lockMilliseconds
    const path = `${lockFolder}/${modeNames[mode]}-${id}-${end}`
    paths.push(path)
    await ownLocks?.record(id, end)
    await provider.write(path, { size: 0, read: () => new Blob().stream() }, { ...(signal && { signal }) })
    renewedAt = now
    const oldest = paths.length > 2 ? paths.shift() : undefined
    if (oldest !== undefined) await removeObject(oldest)
  }
  const release = async (): Promise<void> => {
    const removed = await Promise.all(paths.map(removeObject))
    if (removed.every(Boolean)) await ownLocks?.forget(id).catch(() => undefined)
  }
  /**
   * Says whether a killed process has left a lock. A removal that an exclusive one has requested can still happen for a while;
   * late writes of a shared one do no harm.
   */
  const isStale = (otherMode: LockMode, otherId: string): boolean => {
    const since = ownLocks?.getStaleSince(otherId)
    return since !== undefined && (otherMode === 'shared' || Date.now() - since > lateRequestMilliseconds)
  }

  const checkOtherLocks = async (): Promise<void> => {
    for await (const { path, modifiedAt } of provider.list(lockFolder, signal)) {
      const [, otherName, otherId = '', end] = lockName.exec(path) ?? []
      if (otherName === undefined || otherId === id) continue
      const otherMode = otherName === modeNames.shared ? 'shared' : 'exclusive'
      if (isExpired(Number(end), modifiedAt) || isStale(otherMode, otherId)) await removeObject(path)
      else if (mode === 'exclusive' || otherMode === 'exclusive')
        throw new ServiceError('conflict', conflictMessages[otherMode])
    }
  }

  try {
    await writeObject()
    await checkOtherLocks()
  } catch (error) {
    await release()
    throw error
  }
  return {
    async renew() {
      if (getAge() >= lockMilliseconds)
        throw new ServiceError(
          'conflict',
          'The work on the chunks stood still for so long that others may have started. What was sent is kept: try again.',
        )
      if (getAge() > lockMilliseconds / 2) await writeObject()
    },
    [Symbol.asyncDispose]: release,
  }
}
