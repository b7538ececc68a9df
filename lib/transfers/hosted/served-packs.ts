import type { RangeSource } from '#lib/calls/range-reply.ts'
import { ServiceError } from '#lib/errors.ts'
import { createContentForwarder } from '#lib/remote-catalogs/managers/content-forwarder.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'

/** A pack that another service serves to this one. */
export interface ServedPack {
  readonly session: RemoteCatalogSession
  /** The path of its download in the other catalog. */
  readonly path: string
}

/**
 * Packs of other catalogs that hosts read through this service, because the credentials for them stay here. A host can read only the
 * pack that it pulls, and only while the pull runs.
 */
export interface ServedPacks {
  /** Lets a host read a pack under the id of a job, until this is disposed of. */
  offer(job: string, hostId: string, pack: ServedPack): Disposable
  /** Opens an object of the pack. Throws `not-found` when the host pulls no pack under the job, and what the other service throws. */
  open(job: string, hostId: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<RangeSource>
}

export const createServedPacks = (): ServedPacks => {
  const forwardContent = createContentForwarder()
  const offered = new Map<string, ServedPack>()
  const toKey = (job: string, hostId: string): string => `${job} ${hostId}`.toLowerCase()
  return {
    offer(job, hostId, pack) {
      const key = toKey(job, hostId)
      offered.set(key, pack)
      return { [Symbol.dispose]: () => void offered.delete(key) }
    },
    async open(job, hostId, query, signal) {
      const pack = offered.get(toKey(job, hostId))
      if (!pack) throw new ServiceError('not-found', `The host pulls nothing under the job ${job}.`)
      return forwardContent(pack.session, pack.path, query, signal)
    },
  }
}
