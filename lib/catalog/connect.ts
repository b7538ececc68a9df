import { ServiceError } from '#lib/errors.ts'
import { type CatalogContext, changeManifest, type ManifestCall } from './changes.ts'
import { type ChunkedContent, collectChunks } from '#lib/packs/chunks/chunk-index.ts'
import { readChunkIndex } from '#lib/packs/chunk-store/index-object.ts'
import { getChunkPath } from '#lib/packs/chunk-store/stored-chunk.ts'
import { parseConnection, type Storage } from '#lib/objects/port/connection.ts'
import { objectsOf, packPath } from './manifest-objects.ts'
import { refuseHidden } from './owners.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { Kept } from './view.ts'

const storageIn = (connection: string): Storage => {
  const { storage } = parseConnection(connection)
  if (!storage) throw new ServiceError('invalid', 'The connection names no provider, which is what this changes.')
  return storage
}

/** Throws `invalid` unless the chunks that an index names are on a provider. */
const checkChunks = async (
  provider: Provider,
  files: readonly ChunkedContent[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const wanted = new Set(collectChunks(files).keys().map(getChunkPath))
  for await (const chunk of provider.list('chunks', signal)) {
    wanted.delete(chunk.path)
    if (wanted.size === 0) return
  }
  const [missing] = wanted
  if (missing !== undefined)
    throw new ServiceError('invalid', `There is no ${missing} at the new connection; copy the chunks there first.`)
}

/** Throws `invalid` unless a manifest's pack is at the storage, and `upstream` for a damaged or another chunk index. */
const checkPack = async (
  { storages, indexParser }: CatalogContext,
  manifest: Kept,
  storage: Storage,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const path = packPath(manifest)
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

/** Gives a manifest another storage, where its pack must be already. Throws `invalid` and what `changeManifest` does. */
export const connectManifest = async (
  context: CatalogContext,
  call: ManifestCall,
  connection: string,
): Promise<Kept> => {
  const storage = storageIn(connection)
  return changeManifest(context, call, {
    event: 'UPDATED',
    described: true,
    async check(manifest, signal) {
      await refuseHidden(context, call.caller, storage, objectsOf(manifest))
      await checkPack(context, manifest, storage, signal)
    },
    apply: manifest => ({ ...manifest, provider: { type: storage.type, meta: { ...storage.meta } } }),
  })
}
