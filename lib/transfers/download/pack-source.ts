import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { largestSideFile, parseSideFile, type SideFile } from '#lib/packs/sidecar.ts'
import type { ByteRange, Provider } from '#lib/objects/port/provider.ts'
import { readBytes } from '#lib/objects/port/bytes.ts'
import { ServiceError } from '#lib/errors.ts'
import { type StoredChunks, storedIn } from '#lib/packs/chunk-store/stored-chunk.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'

/** A pack that can be pulled: what the catalog says of it, and how its bytes are read. */
export interface PackSource {
  readonly manifest: CatalogManifest
  /** The address of the service of whose catalog that is; undefined for this one. */
  readonly catalog?: string | undefined
  /** Tells apart where packs are read from, with all that opens it; never shown. */
  readonly origin: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex, of the whole; what of them is known. */
  readonly sha256?: string | undefined
  readonly md5?: string | undefined
  /** What was kept of its pieces, and who has signed that. */
  readonly side?: SideFile | undefined
  /** Whether it is on a disk of this host already: it is read from there, once. */
  readonly near?: boolean
  read(range: ByteRange, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  /** What is kept of a chunk, where the pack is a list of those. */
  readonly stored: StoredChunks
}

/** For what a source is looked for. */
export interface SourceFor {
  /** Its downloads are counted once. */
  readonly job: string | undefined
  readonly signal: AbortSignal
}

export const tooLargeSideFile = (): ServiceError =>
  new ServiceError('upstream', `The side file of the pack has more than ${largestSideFile} bytes.`)

/** A side file that is about this pack; one that is about another, of before a push, counts for nothing. */
export const sideOf = (
  bytes: Uint8Array | undefined,
  { size, sha256 }: { readonly size: number; readonly sha256?: string | undefined },
): SideFile | undefined => {
  if (!bytes) return undefined
  const side = parseSideFile(new TextDecoder().decode(bytes))
  return side.size === size && (sha256 === undefined || side.sha256 === sha256) ? side : undefined
}

/** A pack on a provider. Throws `not-found` when it is not there, and what the provider does. */
export const providerSource = async (
  provider: Provider,
  path: string,
  known: {
    readonly manifest: CatalogManifest
    readonly catalog?: string
    readonly origin: string
    readonly sha256?: string | undefined
    readonly md5?: string | undefined
  },
  signal: AbortSignal,
): Promise<PackSource> => {
  const found = await provider.stat(path, signal)
  if (!found) throw new ServiceError('not-found', `The pack ${path} does not exist on the provider.`)
  const beside = (await provider.stat(path + sidecarSuffix, signal))
    ? await readBytes(await provider.read(path + sidecarSuffix, { signal }), largestSideFile, tooLargeSideFile)
    : undefined
  const about = { size: found.size, sha256: known.sha256 ?? found.sha256 }
  const side = sideOf(beside, about)
  return {
    ...known,
    ...about,
    sha256: about.sha256 ?? side?.sha256,
    side,
    near: provider.type === 'local-storage',
    read: (range, reading) => provider.read(path, { range, signal: reading }),
    stored: storedIn(provider),
  }
}
