import { ServiceError } from '#lib/errors.ts'
import { type CatalogContext, changeManifest, type ManifestCall } from './changes.ts'
import { type ChunkedContent, collectChunks } from '#lib/packs/chunks/chunk-index.ts'
import { readChunkIndex } from '#lib/packs/chunk-store/index-object.ts'
import { getChunkPath } from '#lib/packs/chunk-store/stored-chunk.ts'
import { parseConnection, type Storage } from '#lib/objects/port/connection.ts'
import { listObjectPaths, toPackPath } from './manifest-objects.ts'
import { refuseHidden } from './owners.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { ManifestRow } from './view.ts'

/** Parses a connection that names a provider. Throws `invalid` for any other. */
const parseStorageConnection = (connection: string): Storage => {
  const { storage } = parseConnection(connection)
  if (!storage)
    throw new ServiceError('invalid', 'The connection must name a provider: this changes the provider of the manifest.')
  return storage
}

/** Throws `invalid` when a chunk that an index names is not on the provider. */
const checkChunks = async (
  provider: Provider,
  files: readonly ChunkedContent[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const missing = new Set(collectChunks(files).keys().map(getChunkPath))
  for await (const chunk of provider.list('chunks', signal)) {
    missing.delete(chunk.path)
    if (missing.size === 0) return
  }
  const [firstMissing] = missing
  if (firstMissing !== undefined)
    throw new ServiceError('invalid', `There is no ${firstMissing} at the new connection; copy the chunks there first.`)
}

/** Throws `invalid` when a manifest's pack is not in the storage, and `upstream` for a damaged or a different chunk index. */
const checkPack = async (
  { storages, indexParser }: CatalogContext,
  manifest: ManifestRow,
  storage: Storage,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const path = toPackPath(manifest)
  if (path === undefined) return
  const provider = await storages.open(storage)
  const found = await provider.stat(path, signal)
  if (!found) throw new ServiceError('invalid', `There is no ${path} at the new connection; copy the pack there first.`)
  const sha256 = manifest.pack_sha256 || undefined
  const files = await readChunkIndex(provider, path, indexParser, { sha256, signal })
  if (files) return checkChunks(provider, files, signal)
  if (manifest.pack_size > 0 && found.size !== manifest.pack_size)
    throw new ServiceError(
      'invalid',
      `${path} at the new connection has ${found.size} bytes, not ${manifest.pack_size}.`,
    )
}

/** Gives a manifest another storage, which must have its pack already. Throws `invalid`, and what `changeManifest` throws. */
export const connectManifest = async (
  context: CatalogContext,
  call: ManifestCall,
  connection: string,
): Promise<ManifestRow> => {
  const storage = parseStorageConnection(connection)
  return changeManifest(context, call, {
    event: 'UPDATED',
    updatesMetadata: true,
    async check(manifest, signal) {
      await refuseHidden(context, call.caller, storage, listObjectPaths(manifest))
      await checkPack(context, manifest, storage, signal)
    },
    apply: manifest => ({ ...manifest, provider: { type: storage.type, meta: { ...storage.meta } } }),
  })
}
