import { forEachPart, MiB } from '../http/multipart.ts'
import type { Source } from '../port/provider.ts'
import type { Layer } from './oci-manifest.ts'

/** Layers that are sent at the same time. */
const concurrency = 3

/** Registries limit the layers of an image; the lowest limit of the large registries is 4,200. */
const maxLayers = 4_000

interface UploadOptions {
  /** Bytes of a layer, unless the object would have too many layers. */
  readonly layerSize: number
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((bytes: number) => void) | undefined
  /** Sends one layer unless the registry has it. */
  write(layer: Layer, bytes: Uint8Array, signal: AbortSignal): Promise<void>
}

/** Sends a source as layers, some at the same time. Gives the layers in their order and the SHA-256 of the whole. */
export const uploadLayers = async (
  source: Source,
  { layerSize, signal, onProgress, write }: UploadOptions,
): Promise<{ readonly layers: readonly Layer[]; readonly sha256: string }> => {
  const partSize = Math.max(layerSize, Math.ceil(source.size / maxLayers / MiB) * MiB)
  const options = { partSize, concurrency, partAlgorithm: 'sha256', algorithms: ['sha256'], signal } as const
  const layers: Layer[] = []
  let sentBytes = 0
  const { sha256 } = await forEachPart(source, options, async ({ index, bytes, digest }, partSignal) => {
    // An empty object has no layers.
    if (bytes.length === 0) return
    const layer = { digest: `sha256:${digest.toString('hex')}`, size: bytes.length }
    layers[index] = layer
    await write(layer, bytes, partSignal)
    sentBytes += layer.size
    onProgress?.(sentBytes)
  })
  return { layers, sha256 }
}
