import { ServiceError } from '#lib/errors.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import { metadataPath, packPath, requireStorage, sidePath } from './manifest-objects.ts'
import type { Kept } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'

const paths = { pack: packPath, metadata: metadataPath, pieces: sidePath } as const

/** What of a manifest has bytes of its own: its pack, its description, and the digests of the pack's pieces. */
export const contentParts = Object.keys(paths) as (keyof typeof paths)[]
export type ContentPart = keyof typeof paths

/** An object of a manifest, to be read in parts. Throws `not-found` when there is none, `conflict` without a provider. */
export const contentOf = async (
  storages: Storages,
  manifest: Kept,
  part: ContentPart,
  signal: AbortSignal,
): Promise<RangeSource> => {
  const provider = await storages.open(requireStorage(manifest))
  const path = paths[part](manifest)
  const found = path === undefined ? undefined : await provider.stat(path, signal)
  if (path === undefined || !found)
    throw new ServiceError('not-found', `The provider does not have the ${part} of ${manifest.name}.`)
  const { size, modifiedAt, sha256 } = found
  return {
    size,
    etag: `"${sha256 ?? `${size}-${modifiedAt === undefined ? manifest.edition : Date.parse(modifiedAt)}`}"`,
    read: range => provider.read(path, { range, signal }),
  }
}
