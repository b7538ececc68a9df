import { ServiceError } from '#lib/errors.ts'
import { type CatalogContext, changeManifest, type ManifestCall } from './changes.ts'
import { chunksOf } from './chunks/chunk-list.ts'
import { isListPath, readListObject } from './chunks/list-object.ts'
import { chunkPath } from './chunks/stored-chunk.ts'
import { parseConnection, type Storage } from './connection.ts'
import { objectsOf, packPath } from './objects.ts'
import { refuseHidden } from './owners.ts'
import type { Provider } from './providers/provider.ts'
import type { Kept } from './shown.ts'

const storageIn = (connection: string): Storage => {
  const { storage } = parseConnection(connection)
  if (!storage) throw new ServiceError('invalid', 'The connection names no provider, which is what this changes.')
  return storage
}

/** Throws `invalid` unless the chunks that a list names are on a provider, and `upstream` for another list. */
const checkChunks = async (provider: Provider, path: string, sha256: string): Promise<void> => {
  const list = await readListObject(provider, path, { ...(sha256 !== '' && { sha256 }) })
  const wanted = new Set(chunksOf(list).keys().map(chunkPath))
  for await (const chunk of provider.list('chunks')) {
    wanted.delete(chunk.path)
    if (wanted.size === 0) return
  }
  const [missing] = wanted
  if (missing !== undefined)
    throw new ServiceError('invalid', `There is no ${missing} at the new connection; copy the chunks there first.`)
}

/** Throws `invalid` unless a manifest's pack is at the storage. */
const checkPack = async ({ storages }: CatalogContext, manifest: Kept, storage: Storage): Promise<void> => {
  const path = packPath(manifest)
  const provider = await storages.open(storage)
  const found = path === undefined ? undefined : await provider.stat(path)
  if (path !== undefined && !found)
    throw new ServiceError('invalid', `There is no ${path} at the new connection; copy the pack there first.`)
  if (found && isListPath(found.path)) return checkChunks(provider, found.path, manifest.pack_sha256)
  if (found && manifest.pack_size > 0 && found.size !== manifest.pack_size)
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
    async check(manifest) {
      await refuseHidden(context, call.caller, storage, objectsOf(manifest))
      await checkPack(context, manifest, storage)
    },
    apply: manifest => ({ ...manifest, provider: { type: storage.type, meta: { ...storage.meta } } }),
  })
}
