import { listEnd } from '#lib/packs/chunk-store/index-object.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import { isPushedPack } from '#lib/catalog/pushed-pack.ts'
import type { PackFile } from '#lib/packs/pack-files.ts'
import { type SideFile, signSideFile } from '#lib/packs/sidecar.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { Packed } from './packing.ts'

/** What a catalog has already of what is pushed. */
export interface Before {
  readonly pack_filename: string
  readonly pack_sha256: string
  readonly revoked: boolean
}

/** What ends the name of a pack: of a tar, or of a list of chunks. */
export const packEnds = ['.pdpack', listEnd] as const

/** Stands before the digest in the name of a pack that has replaced another: no version has it (see `fitsName`). */
const mark = '~'

/**
 * The name of a pack. One that replaces another has a name of its own, so that until the manifest leads to it the one of
 * before is whole.
 */
export const packName = (
  name: string,
  { sha256 }: Packed['digest'],
  before: Before | undefined,
  end: (typeof packEnds)[number],
): string => {
  if (before === undefined || before.pack_filename === '') return name + end
  return before.pack_sha256 === sha256 ? before.pack_filename : `${name}${mark}${sha256.slice(0, 8)}${end}`
}

/** What the side file of a pack says, signed where there is a key. */
export const sideFileOf = (
  name: string,
  { digest }: Packed,
  files: readonly PackFile[],
  signingKey: string | undefined,
): SideFile => {
  const side: SideFile = {
    format: 1,
    name,
    size: digest.size,
    sha256: digest.sha256,
    md5: digest.md5,
    piece_size: digest.pieceSize,
    pieces: [...digest.pieces],
    files: files.map(({ name: file, size }) => ({ name: file, size })),
    signatures: [],
  }
  return signingKey === undefined ? side : signSideFile(side, signingKey)
}

interface Sweeping {
  /** Of the provider. */
  readonly folder: string
  /** Of the manifest. */
  readonly name: string
  /** The pack that it leads to. */
  readonly kept: string
  /** Whether another manifest leads to an object too. */
  readonly keeps: (path: string) => Promise<boolean>
}

/** Deletes the packs of a manifest that earlier pushes have left on its provider, each before its side file. */
export const sweepPacks = async (
  provider: Provider,
  { folder, name, kept, keeps }: Sweeping,
  signal: AbortSignal,
): Promise<void> => {
  /** By the path of a pack, the beginning of its digest where its name has that. */
  const packs = new Map<string, string>()
  for await (const { path } of provider.list(folder, signal)) {
    const packAt = path.endsWith(sidecarSuffix) ? path.slice(0, -sidecarSuffix.length) : path
    if (!packAt.startsWith(`${folder}/${name}`) || packAt === kept) continue
    const found = /^(?:~([0-9a-f]{8}))?\.(?:pdpack|chunks\.json)$/.exec(packAt.slice(folder.length + 1 + name.length))
    if (found) packs.set(packAt, found[1] ?? '')
  }
  for (const [packAt, digest] of packs) {
    if (!(await isPushedPack(provider, packAt, sha256 => sha256.startsWith(digest), signal))) continue
    for (const path of [packAt, packAt + sidecarSuffix]) if (!(await keeps(path))) await provider.remove(path, signal)
  }
}
