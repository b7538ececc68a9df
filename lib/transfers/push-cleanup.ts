import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { isFault } from '#lib/errors.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { LocalPack } from './pack-journal.ts'
import { listPackNames, removeOldPacks } from './pushed-objects.ts'
import type { ExistingManifest, PushTarget } from './push-target.ts'
import type { PushManifest } from './schemas.ts'

/** Where a push writes and what it registers. */
export interface PushDestination {
  readonly request: Pick<PushManifest, 'catalog_id' | 'version'>
  readonly architecture: string
  /** The name of the manifest. */
  readonly name: string
  readonly provider: Provider
  readonly target: PushTarget
}

export interface Published {
  readonly manifest: CatalogManifest
  /** The pack or the chunk index on the provider. */
  readonly packPath: string
  readonly sha256: string
}

/** What the catalog and the provider had before the push. */
export interface Earlier {
  readonly existing: ExistingManifest | undefined
  /** The pack of an earlier try of this push. The machine may have changed since. */
  readonly pack: Pick<LocalPack, 'digest'> | undefined
}

/** Says whether the catalog has refused the manifest. After any other error nobody knows whether it has registered it. */
export const isRefusal = (error: unknown): boolean =>
  (['invalid', 'forbidden', 'not-found', 'conflict'] as const).some(fault => isFault(error, fault))

/** Removes objects that were uploaded in vain, unless the catalog has the manifest by now or another manifest owns them. */
export const discardObjects = async (
  { target, provider, request, architecture }: PushDestination,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  if (await target.findExisting(request, architecture, signal)) return
  const isOwnedByOthers = await target.createOwnerCheck({ id: '' })
  for (const path of paths) if (!(await isOwnedByOthers(path))) await provider.remove(path, signal)
}

/** Removes the packs that the manifest no longer refers to. */
export const removeReplaced = async (
  { provider, request, architecture, name, target }: PushDestination,
  { manifest, packPath, sha256 }: Published,
  { existing, pack }: Earlier,
  signal: AbortSignal,
): Promise<void> => {
  // If another host has registered another pack meanwhile, this push does not know which objects are in use.
  const current = await target.findExisting(request, architecture, signal).catch(() => undefined)
  if (!current || !['', sha256].includes(current.pack_sha256)) return
  const isOwnedByOthers = await target.createOwnerCheck(manifest)
  for (const file of pack ? listPackNames(name, pack.digest, existing) : []) {
    const path = `${request.catalog_id}/${file}`
    if (path !== packPath && !(await isOwnedByOthers(path))) await provider.remove(path, signal)
  }
  await removeOldPacks(provider, { folder: request.catalog_id, name, currentPack: packPath, isOwnedByOthers }, signal)
}
