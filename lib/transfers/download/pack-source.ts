import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { maxSidecarSize, parseSidecar, type Sidecar } from '#lib/packs/sidecar.ts'
import type { ByteRange, Provider } from '#lib/objects/port/provider.ts'
import { readBytes } from '#lib/async/read-bytes.ts'
import { ServiceError } from '#lib/errors.ts'
import { createStoredChunkReader, type ReadStoredChunk } from '#lib/packs/chunk-store/stored-chunk.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'

/** What the catalog says of a pack, and where the pack is. */
export interface PackDescription {
  readonly manifest: CatalogManifest
  /** The address of the service whose catalog has the manifest. Undefined for this service. */
  readonly catalog?: string | undefined
  /** Identifies where the pack is read from and with which credentials. Nobody outside of the service may see it. */
  readonly origin: string
  /** The digests of the whole pack in lower-case hex, as far as they are known. */
  readonly sha256?: string | undefined
  readonly md5?: string | undefined
}

/** A pack that can be pulled. */
export interface PackSource extends PackDescription {
  /** Bytes. */
  readonly size: number
  /** The digests of its ranges, and its signatures. */
  readonly sidecar?: Sidecar | undefined
  /** True when the pack is on a disk of this host. It is then read in place, once. */
  readonly isLocal?: boolean
  read(range: ByteRange, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  /** Reads the stored bytes of a chunk, if the pack is a chunk index. */
  readonly readStoredChunk: ReadStoredChunk
}

/** How to open a source. */
export interface SourceOptions {
  /** The id of the job, for which a download counts once. */
  readonly job: string | undefined
  readonly signal: AbortSignal
}

const createOversizedSidecarError = (): ServiceError =>
  new ServiceError('upstream', `The sidecar of the pack has more than ${maxSidecarSize} bytes.`)

/** Parses a sidecar. Returns undefined for one of another pack, which an earlier push may have left. */
export const parseMatchingSidecar = (
  bytes: Uint8Array | undefined,
  { size, sha256 }: { readonly size: number; readonly sha256?: string | undefined },
): Sidecar | undefined => {
  if (!bytes) return undefined
  const sidecar = parseSidecar(new TextDecoder().decode(bytes))
  return sidecar.size === size && (sha256 === undefined || sidecar.sha256 === sha256) ? sidecar : undefined
}

/** Opens a pack on a provider. Throws `not-found` when it does not exist, and what the provider throws. */
export const openProviderSource = async (
  provider: Provider,
  path: string,
  description: PackDescription,
  signal: AbortSignal,
): Promise<PackSource> => {
  const stored = await provider.stat(path, signal)
  if (!stored) throw new ServiceError('not-found', `The pack ${path} does not exist on the provider.`)
  const sidecarBytes = (await provider.stat(path + sidecarSuffix, signal))
    ? await readBytes(
        await provider.read(path + sidecarSuffix, { signal }),
        maxSidecarSize,
        createOversizedSidecarError,
      )
    : undefined
  const { size } = stored
  const sha256 = description.sha256 ?? stored.sha256
  const sidecar = parseMatchingSidecar(sidecarBytes, { size, sha256 })
  return {
    ...description,
    size,
    sha256: sha256 ?? sidecar?.sha256,
    sidecar,
    isLocal: provider.type === 'local-storage',
    read: (range, readSignal) => provider.read(path, { range, signal: readSignal }),
    readStoredChunk: createStoredChunkReader(provider),
  }
}
