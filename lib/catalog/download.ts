import { ServiceError } from '#lib/errors.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import { keysOf } from '#lib/keys-of.ts'
import { requireStorage, toMetadataPath, toPackPath, toSidecarPath } from './manifest-objects.ts'
import type { ManifestRow } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'

const toPath = { pack: toPackPath, metadata: toMetadataPath, pieces: toSidecarPath } as const

/** The objects of a manifest, as the wire names them: its pack, its description, and the sidecar. */
export const contentParts = keysOf(toPath)
export type ContentPart = keyof typeof toPath

/** Opens an object of a manifest. Throws `not-found` when there is none, and `conflict` for a manifest without a provider. */
export const openContent = async (
  storages: Storages,
  manifest: ManifestRow,
  part: ContentPart,
  signal: AbortSignal,
): Promise<RangeSource> => {
  const provider = await storages.open(requireStorage(manifest))
  const path = toPath[part](manifest)
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
