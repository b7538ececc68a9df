import { listEnd } from '../chunks/list-object.ts'
import { sideEnd } from '../objects.ts'
import type { PackFile } from '../pack/files.ts'
import { type SideFile, signSideFile } from '../pack/side-file.ts'
import type { Provider } from '../providers/provider.ts'
import type { Packed } from './packing.ts'

/** What a catalog has already of what is pushed. */
export interface Before {
  readonly pack_filename: string
  readonly pack_sha256: string
  readonly revoked: boolean
}

/** What ends the name of a pack: of a tar, or of a list of chunks. */
export const packEnds = ['.pdpack', listEnd] as const

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
  return before.pack_sha256 === sha256 ? before.pack_filename : `${name}.${sha256.slice(0, 8)}${end}`
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

/** Deletes the packs of a manifest in a folder of its provider that earlier pushes have left, but for the one that is kept. */
export const sweepPacks = async (provider: Provider, folder: string, name: string, kept: string): Promise<void> => {
  const mine = (path: string): boolean =>
    path.startsWith(`${folder}/${name}.`) &&
    /^(\.[0-9a-f]{8})?\.(pdpack|chunks\.json)(\.pack\.json)?$/.test(path.slice(folder.length + 1 + name.length))
  for await (const { path } of provider.list(folder))
    if (mine(path) && path !== kept && path !== kept + sideEnd) await provider.remove(path)
}
