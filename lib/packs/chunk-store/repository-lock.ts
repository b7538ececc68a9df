import { ServiceError } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { OwnHolds } from './own-locks.ts'

/**
 * Keeps those who add chunks and who removes them apart, wherever they run, by objects on the provider. Who wants to
 * begin writes its own object first and looks for others then: of two that begin at once at least one sees the other and
 * steps back. So no chunk that a writer has found can be removed before the writer's list is known.
 */
export interface Hold extends AsyncDisposable {
  /** Keeps the hold valid. Throws `conflict` when it has been out of use for so long that others may have gone on. */
  renew(): Promise<void>
}

export type Purpose = 'write' | 'sweep'

export const holdFolder = 'chunks/holds'

/** For how long a hold is good. It is renewed at the half. */
export const holdMilliseconds = 10 * 60_000

/** For how long others heed a hold that is not good any more: the clocks of hosts may differ by as much. */
export const slackMilliseconds = 10 * 60_000

/** For how long a provider may still carry out what a process has asked for that was killed. */
export const lateMilliseconds = 60_000

/** Purpose, whose, and until when in milliseconds since 1970. */
const holdName = /^chunks\/holds\/(write|sweep)-([0-9a-f-]{36})-(\d{1,16})$/

const busy: Readonly<Record<Purpose, string>> = {
  write: 'Chunks are being written to this place. Try again when that has ended.',
  sweep: 'Chunks that are not used any more are being removed from this place. Try again when that has ended.',
}

/** Whoever writes can do so beside others who write; who removes has to be alone. */
const excludes = (mine: Purpose, other: Purpose): boolean => mine === 'sweep' || other === 'sweep'

/**
 * Whether a hold is over: by its end, or where that is further away than any hold lasts, as its object has grown too old. A
 * host whose clock was years ahead would else keep others out for as long.
 */
const isOver = (end: number, modifiedAt: string | undefined): boolean => {
  const isPossible = end <= Date.now() + holdMilliseconds + slackMilliseconds
  const last =
    isPossible || modifiedAt === undefined ? end : Date.parse(modifiedAt) + holdMilliseconds + slackMilliseconds
  return last + slackMilliseconds < Date.now()
}

/**
 * Takes a hold; it ends when it is disposed of. Throws `conflict` while there is another that does not go with it; of `own`
 * one that a process left that was killed is none.
 */
export const takeHold = async (
  provider: Provider,
  purpose: Purpose,
  signal?: AbortSignal,
  own?: OwnHolds,
): Promise<Hold> => {
  const id = crypto.randomUUID()
  /** The two newest objects of this hold: a listing that goes on while it is renewed finds at least one. */
  const paths: string[] = []
  let written = { at: 0, since: 0 }
  /** Milliseconds since it was written, by the clock that says more: the one of the time of day may be set back. */
  const age = (): number => Math.max(Date.now() - written.at, performance.now() - written.since)

  /** Whether an object could be removed. What could not comes to its end by itself. */
  const remove = async (path: string): Promise<boolean> =>
    provider.remove(path).then(
      () => true,
      () => false,
    )
  const put = async (): Promise<void> => {
    const now = { at: Date.now(), since: performance.now() }
    const end = now.at + holdMilliseconds
    const path = `${holdFolder}/${purpose}-${id}-${end}`
    paths.push(path)
    await own?.note(id, end)
    await provider.write(path, { size: 0, read: () => new Blob().stream() }, { ...(signal && { signal }) })
    written = now
    if (paths.length > 2) await remove(paths.shift()!)
  }
  const release = async (): Promise<void> => {
    const removed = await Promise.all(paths.map(remove))
    if (removed.every(Boolean)) await own?.forget(id).catch(() => undefined)
  }
  /** Whether a hold is of nobody: a chunk that a sweep had asked to be removed may still be, the writes do no harm. */
  const isLeft = (other: Purpose, whose: string): boolean => {
    const since = own?.deadSince(whose)
    return since !== undefined && (other === 'write' || Date.now() - since > lateMilliseconds)
  }

  const lookForOthers = async (): Promise<void> => {
    for await (const { path, modifiedAt } of provider.list(holdFolder, signal)) {
      const [, other, whose, end] = holdName.exec(path) ?? []
      if (other === undefined || whose === id) continue
      if (isOver(Number(end), modifiedAt) || isLeft(other as Purpose, whose!)) await remove(path)
      else if (excludes(purpose, other as Purpose)) throw new ServiceError('conflict', busy[other as Purpose])
    }
  }

  try {
    await put()
    await lookForOthers()
  } catch (error) {
    await release()
    throw error
  }
  return {
    async renew() {
      if (age() >= holdMilliseconds)
        throw new ServiceError(
          'conflict',
          'The work on the chunks stood still for too long, and others may have gone on. What was sent is kept: try again.',
        )
      if (age() > holdMilliseconds / 2) await put()
    },
    [Symbol.asyncDispose]: release,
  }
}
