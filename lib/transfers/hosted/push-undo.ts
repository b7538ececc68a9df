import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import { type HostedPush, isPackNameOf } from './register-pushed.ts'

/** Removes the objects that a failed push through a host has left on the provider. */
interface PushUndo {
  /** Removes them, and returns the error to throw. Its message says so if the removal fails. */
  undoAfter(error: unknown): Promise<unknown>
}

/**
 * Lists the objects with the name of a manifest that the provider has before a push. Later ones are of that push, because pushes
 * of one manifest run one after the other.
 */
export const preparePushUndo = async (
  { provider, target, request, name, architecture }: HostedPush,
  signal: AbortSignal,
): Promise<PushUndo> => {
  const folder = request.catalog_id
  const metadataPath = `${folder}/${name}.meta`
  const isOfPush = (path: string): boolean => {
    const file = path.slice(folder.length + 1)
    const pack = file.endsWith(sidecarSuffix) ? file.slice(0, -sidecarSuffix.length) : file
    return path === metadataPath || isPackNameOf(name, pack)
  }
  const listNames = async (listSignal: AbortSignal): Promise<ReadonlySet<string>> => {
    const paths = new Set<string>()
    for await (const { path } of provider.list(folder, listSignal)) if (isOfPush(path)) paths.add(path)
    return paths
  }
  const before = await listNames(signal)
  const firstName = `${folder}/${name}${request.chunked ? indexSuffix : '.pdpack'}`

  const discard = async (discardSignal: AbortSignal): Promise<void> => {
    const current = await target.findExisting(request, architecture, discardSignal)
    const pack = `${folder}/${current?.pack_filename}`
    const kept = new Set(current ? [...before, metadataPath, pack, pack + sidecarSuffix] : before)
    const isOwned = await target.createOwnerCheck({ id: '' })
    // An upload that was interrupted is not listed, so its object is removed under the name that a first push gives it.
    const paths = new Set([metadataPath, ...(await listNames(discardSignal)), firstName])
    for (const path of paths) if (!kept.has(path) && !(await isOwned(path))) await provider.remove(path, discardSignal)
  }
  return { undoAfter: error => undoAfterFailure(error, discard) }
}
