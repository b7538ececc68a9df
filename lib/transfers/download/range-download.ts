import { appendFileSync, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgressOptions } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import { maxJournalSize, readBounded } from '#lib/platform/bounded-file.ts'
import { writeAll } from '#lib/platform/files.ts'
import { computeSha256 } from '#lib/packs/chunk-store/stored-chunk.ts'
import { isOutage, withRetry } from '#lib/async/retry.ts'
import type { PackSource } from './pack-source.ts'

/** Ranges that are fetched at the same time. */
const concurrency = 4
/** Bytes of a range when no sidecar says how the pack is divided. */
const defaultRangeSize = 8 * 1024 * 1024
/** Maximum number of bytes of a range. A kill can cost so many of each fetch, and each fetch takes so much memory. */
const maxRangeSize = 16 * 1024 * 1024

/** The download of a pack into a file, in ranges from the first to the last. */
export interface RangeDownload {
  /** Bytes of the pack. */
  readonly size: number
  /**
   * Waits until the byte at this offset is in the file. Returns the offset up to which the file is complete. Throws what the
   * download fails with.
   */
  waitFor(offset: number): Promise<number>
  /** Reads up to `maxSize` bytes of the file. The caller has waited for them. */
  read(offset: number, maxSize: number): Promise<Buffer>
  /**
   * Settles when no fetch is running any more. Returns whether an outage has interrupted the download, so that a later try can
   * continue it.
   */
  close(): Promise<boolean>
}

const readStream = async (stream: ReadableStream<Uint8Array>, size: number): Promise<Buffer<ArrayBuffer>> => {
  const buffer = Buffer.allocUnsafeSlow(size)
  let received = 0
  for await (const chunk of stream) {
    if (received + chunk.byteLength > size)
      throw new ServiceError('upstream', 'The provider sent more of the pack than the service asked for.')
    buffer.set(chunk, received)
    received += chunk.byteLength
  }
  if (received < size)
    throw new ServiceError('upstream', `The provider sent ${received} bytes of a range of ${size} bytes.`)
  return buffer
}

/**
 * Opens the download of a pack into a folder. It keeps the ranges that an earlier try has left there, if they are valid.
 * `options.onProgress` gets the number of bytes in the file.
 */
export const openRangeDownload = async (
  source: PackSource,
  folder: string,
  { signal, onProgress }: ProgressOptions,
): Promise<RangeDownload> => {
  const { size } = source
  // Larger ranges are not verified one by one. The whole pack is verified in any case.
  const sidecar = source.sidecar && source.sidecar.piece_size <= maxRangeSize ? source.sidecar : undefined
  const rangeSize = sidecar?.piece_size ?? defaultRangeSize
  const count = Math.ceil(size / rangeSize)
  // The journal has the numbers of the ranges in the file.
  const journal = join(folder, 'pieces')
  const pack = join(folder, 'pack')
  await using resources = new AsyncDisposableStack()
  const file = resources.use(await open(pack, existsSync(pack) ? 'r+' : 'w+', 0o600))
  const getRange = (index: number) => ({ start: index * rangeSize, end: Math.min((index + 1) * rangeSize, size) })
  const isValid = async (index: number, bytes: Buffer<ArrayBuffer>): Promise<boolean> =>
    !sidecar || (await computeSha256(bytes)) === sidecar.pieces[index]

  const completed = new Set<number>()
  let completedBytes = 0
  const addCompleted = (index: number): void => {
    const { start, end } = getRange(index)
    completed.add(index)
    completedBytes += end - start
    onProgress(completedBytes)
  }
  const read = async (offset: number, maxSize: number): Promise<Buffer<ArrayBuffer>> => {
    const buffer = Buffer.allocUnsafeSlow(maxSize)
    const { bytesRead } = await file.read(buffer, 0, maxSize, offset)
    return buffer.subarray(0, bytesRead)
  }
  const addEarlierRanges = async (): Promise<void> => {
    if (!existsSync(journal)) return
    const text = (await readBounded(journal, maxJournalSize)).toString('latin1')
    const recorded = new Set(text.split('\n').slice(0, -1).map(Number))
    for (const index of recorded) {
      if (!Number.isInteger(index) || index < 0 || index >= count) continue
      const { start, end } = getRange(index)
      const bytes = await read(start, end - start)
      if (bytes.length === end - start && (await isValid(index, bytes))) addCompleted(index)
    }
  }

  /** The number of ranges from the first one on that are in the file without a gap. */
  let contiguous = 0
  let failure: unknown
  let advance: PromiseWithResolvers<void> = Promise.withResolvers()
  const wakeWaiting = (): void => {
    while (contiguous < count && completed.has(contiguous)) contiguous += 1
    advance.resolve()
    advance = Promise.withResolvers()
  }

  const ended = new AbortController()
  const fetchSignal = AbortSignal.any([signal, ended.signal])
  const fetchRange = (index: number): Promise<void> =>
    withRetry(
      async () => {
        const range = getRange(index)
        const bytes = await readStream(await source.read(range, fetchSignal), range.end - range.start)
        if (!(await isValid(index, bytes)))
          throw new ServiceError('upstream', `Range ${index} of the pack is not what its SHA-256 says.`)
        await writeAll(file, bytes, range.start)
        // The journal is written after the bytes. So a recorded range is in the file, also after a kill.
        appendFileSync(journal, `${index}\n`)
      },
      fetchSignal,
      isOutage,
    )
  await addEarlierRanges()
  wakeWaiting()
  let next = 0
  const fetchRanges = async (): Promise<void> => {
    for (;;) {
      while (next < count && completed.has(next)) next += 1
      if (next >= count) return
      const index = next
      next += 1
      await fetchRange(index)
      addCompleted(index)
      wakeWaiting()
    }
  }
  const fail = (error: unknown): void => {
    failure ??= signal.aborted ? signal.reason : error
    ended.abort(error)
    wakeWaiting()
  }
  const ownedResources = resources.move()
  const fetching = Promise.all(Array.from({ length: concurrency }, () => fetchRanges().catch(fail)))

  return {
    size,
    async waitFor(offset) {
      for (;;) {
        const end = Math.min(contiguous * rangeSize, size)
        if (offset < end || end === size) return end
        if (failure) throw failure
        await advance.promise
      }
    },
    read,
    async close() {
      ended.abort(new Error('nobody waits for the pack any more'))
      await fetching
      await ownedResources.disposeAsync()
      return isOutage(failure)
    },
  }
}
