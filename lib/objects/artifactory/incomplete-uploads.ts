import { hash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import { listMembers } from './webdav.ts'
import type { Repository } from './repository.ts'
import { drain } from '../http/response.ts'
import { listedHiddenPrefix } from '../port/object-path.ts'

/** No running write leaves its file untouched for so long. */
const abandonedAfterMs = 7 * 86_400_000

/** The prefix of the files that writes of an object leave; a digest, because the object's name may have the maximal length. */
const getIncompletePrefix = (segments: readonly string[]): string =>
  `${listedHiddenPrefix}${hash('sha256', segments.at(-1) ?? '').slice(0, 16)}.`

/** The path of an object while it is written to a WebDAV server. A later write of the same bytes replaces an earlier one. */
export const getIncompletePath = (segments: readonly string[], sha256: string | undefined): readonly string[] => [
  ...segments.slice(0, -1),
  getIncompletePrefix(segments) + (sha256 ?? crypto.randomUUID()),
]

/**
 * Deletes the incomplete uploads of an object, and the abandoned ones of other objects in its folder. The object must not be
 * written at the same time. Errors of the server are ignored, because incomplete uploads only cost space.
 */
export const cleanUpUploads = async (
  repository: Repository,
  segments: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const folder = segments.slice(0, -1)
  const prefix = getIncompletePrefix(segments)
  try {
    for (const { name, modifiedAt = '' } of await listMembers(repository, folder, signal)) {
      const isOld = name.startsWith(listedHiddenPrefix) && Date.parse(modifiedAt) < Date.now() - abandonedAfterMs
      if (!name.startsWith(prefix) && !isOld) continue
      drain(await repository.sendWithoutRetry({ url: repository.url([...folder, name]), method: 'DELETE', signal }))
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}
