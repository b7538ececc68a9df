import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import { isPushedPack } from '#lib/catalog/pushed-pack.ts'
import type { PackDigest } from '#lib/packs/digest.ts'
import type { PackFile } from '#lib/packs/pack-files.ts'
import { type Sidecar, signSidecar } from '#lib/packs/sidecar.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { LocalPack } from './pack-journal.ts'
import type { ExistingManifest } from './push-target.ts'

/** The suffixes of the names of packs: of a tar, and of a chunk index. */
const packSuffixes = ['.pdpack', indexSuffix] as const

/** Separates the digest in the name of a pack that has replaced another. No version contains it (see `fitsName`). */
const digestMark = '~'

/**
 * Chooses the name of a pack. A pack that replaces another, or whose name is taken, gets a name with its digest. So the
 * earlier pack stays complete until the manifest refers to the new one.
 */
export const choosePackName = (
  name: string,
  { sha256 }: PackDigest,
  { existing, isNameTaken }: { readonly existing: ExistingManifest | undefined; readonly isNameTaken: boolean },
  suffix: (typeof packSuffixes)[number],
): string => {
  const existingName = existing?.pack_filename ?? ''
  if (existingName === '' && !isNameTaken) return name + suffix
  if (existing?.pack_sha256 === sha256 && !isNameTaken) return existingName
  return `${name}${digestMark}${sha256.slice(0, 8)}${suffix}`
}

/** Lists the names that an earlier try of a push can have given to its pack. */
export const listPackNames = (
  name: string,
  digest: PackDigest,
  existing: ExistingManifest | undefined,
): readonly string[] =>
  packSuffixes.map(suffix => choosePackName(name, digest, { existing, isNameTaken: false }, suffix))

/** Creates the sidecar of a pack, signed if there is a key. */
export const createSidecar = (
  name: string,
  { digest }: LocalPack,
  files: readonly PackFile[],
  signingKey: string | undefined,
): Sidecar => {
  const sidecar: Sidecar = {
    format: 1,
    name,
    size: digest.size,
    sha256: digest.sha256,
    md5: digest.md5,
    piece_size: digest.rangeSize,
    pieces: [...digest.rangeDigests],
    files: files.map(({ name: file, size }) => ({ name: file, size })),
    signatures: [],
  }
  return signingKey === undefined ? sidecar : signSidecar(sidecar, signingKey)
}

interface RemovalOptions {
  /** The folder of the manifest on the provider. */
  readonly folder: string
  /** The name of the manifest. */
  readonly name: string
  /** The path of the pack to which the manifest refers. */
  readonly currentPack: string
  /** Says whether another manifest refers to an object too. */
  readonly isOwnedByOthers: (path: string) => Promise<boolean>
}

/** Removes the packs that earlier pushes of a manifest have left on its provider, each before its sidecar. */
export const removeOldPacks = async (
  provider: Provider,
  { folder, name, currentPack, isOwnedByOthers }: RemovalOptions,
  signal: AbortSignal,
): Promise<void> => {
  /** The beginning of the digest that the name of a pack contains, or an empty text, by the path of the pack. */
  const digestPrefixes = new Map<string, string>()
  for await (const { path } of provider.list(folder, signal)) {
    const packPath = path.endsWith(sidecarSuffix) ? path.slice(0, -sidecarSuffix.length) : path
    if (!packPath.startsWith(`${folder}/${name}`) || packPath === currentPack) continue
    const match = /^(?:~([0-9a-f]{8}))?\.(?:pdpack|chunks\.json)$/.exec(packPath.slice(folder.length + 1 + name.length))
    if (match) digestPrefixes.set(packPath, match[1] ?? '')
  }
  for (const [packPath, prefix] of digestPrefixes) {
    if (!(await isPushedPack(provider, packPath, sha256 => sha256.startsWith(prefix), signal))) continue
    for (const path of [packPath, packPath + sidecarSuffix])
      if (!(await isOwnedByOthers(path))) await provider.remove(path, signal)
  }
}
