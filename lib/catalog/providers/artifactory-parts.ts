import { hash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import { membersOf } from './artifactory-dav.ts'
import type { Site } from './artifactory-site.ts'
import { discard } from './http/reply.ts'
import { hiddenListed } from './object-path.ts'

/** What nobody has written to for so long belongs to no write that goes on. */
const abandonedAfter = 7 * 86_400_000

/** What begins the names of an object's parts; a digest, since the object's own may be as long as names can be. */
const partsOf = (segments: readonly string[]): string =>
  `${hiddenListed}${hash('sha256', segments.at(-1) ?? '').slice(0, 16)}.`

/** Where an object is on a WebDAV server while it is written: a later try of the same bytes takes the place of an earlier. */
export const partOf = (segments: readonly string[], sha256: string | undefined): readonly string[] => [
  ...segments.slice(0, -1),
  partsOf(segments) + (sha256 ?? crypto.randomUUID()),
]

/**
 * Deletes what writes of an object have left unfinished, and what of others has been left in its folder long ago. Nobody
 * may be writing the object. It only costs room: what cannot be deleted is no failure.
 */
export const sweepParts = async (
  site: Site,
  segments: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const folder = segments.slice(0, -1)
  const mine = partsOf(segments)
  try {
    for (const { name, modifiedAt = '' } of await membersOf(site, folder, signal)) {
      const isOld = name.startsWith(hiddenListed) && Date.parse(modifiedAt) < Date.now() - abandonedAfter
      if (!name.startsWith(mine) && !isOld) continue
      discard(await site.sendOnce({ url: site.url([...folder, name]), method: 'DELETE', signal }))
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}
