import { createHash } from 'node:crypto'
import type { Sidecar } from '#lib/packs/sidecar.ts'
import type { ByteRange } from '#lib/objects/port/provider.ts'
import type { PackSource } from '#lib/transfers/download/pack-source.ts'

const hash = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex')

export const createSidecar = (bytes: Buffer, rangeSize: number): Sidecar => ({
  format: 1,
  name: 'pack',
  size: bytes.length,
  sha256: hash('sha256', bytes),
  md5: hash('md5', bytes),
  piece_size: rangeSize,
  pieces: Array.from({ length: Math.ceil(bytes.length / rangeSize) }, (_, at) =>
    hash('sha256', bytes.subarray(at * rangeSize, (at + 1) * rangeSize)),
  ),
  files: [],
  signatures: [],
})

/** Serves one range: `wanted` has the right bytes, `attempt` counts the requests for the range from 1. */
export type Give = (
  wanted: Buffer,
  how: { readonly range: ByteRange; readonly attempt: number; readonly signal: AbortSignal },
) => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>

export const streamOf = (...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

/** Returns a stream that gives these bytes and then stands still until it is aborted. */
export const stalled = (bytes: Uint8Array, signal: AbortSignal): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
  })

/** Creates a source whose ranges `give` serves. It has no sidecar when `rangeSize` is undefined. */
export const packSource = (
  bytes: Buffer,
  rangeSize: number | undefined,
  give: Give = wanted => streamOf(wanted),
  origin = 'here',
) => {
  const sidecar = rangeSize === undefined ? undefined : createSidecar(bytes, rangeSize)
  const attempts = new Map<number, number>()
  const asked: ByteRange[] = []
  const sha256 = hash('sha256', bytes)
  const source = {
    manifest: { id: 'id', name: 'pack', updated_at: '' },
    origin,
    size: bytes.length,
    sha256,
    sidecar,
    async read(range: ByteRange, signal: AbortSignal) {
      asked.push(range)
      const attempt = (attempts.get(range.start) ?? 0) + 1
      attempts.set(range.start, attempt)
      return give(bytes.subarray(range.start, range.end), { range, attempt, signal })
    },
  } as unknown as PackSource
  return { source, sha256, asked, bytesAsked: () => asked.reduce((sum, { start, end }) => sum + end - start, 0) }
}
