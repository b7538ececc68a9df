import type { FileHandle } from 'node:fs/promises'
import { writeAll } from '#lib/platform/files.ts'

/** Bytes of one write. */
const windowSize = 1024 * 1024
/** Bytes of a block, the unit in which file systems keep or leave out data. */
const blockSize = 4096
/** Minimum number of zeros that become a hole. */
const minHoleSize = 64 * 1024

const zeroBlock = Buffer.alloc(blockSize)

/** A run of zeros in a content. Nobody has to allocate it in order to write it. */
export interface ZeroRun {
  readonly zeros: number
}

/** A span of a window that is written. */
interface DataRun {
  readonly start: number
  end: number
}

/** Finds the spans of a file that are not holes, window by window. */
const createDataRunFinder = () => {
  let zeros = 0
  return {
    /** The number of zeros at the end of all windows so far. */
    get trailing(): number {
      return zeros
    },
    findDataRuns(window: Buffer): readonly DataRun[] {
      const runs: DataRun[] = []
      for (let at = 0; at < window.length; at += blockSize) {
        const end = Math.min(at + blockSize, window.length)
        if (window[at] === 0 && window.compare(zeroBlock, 0, end - at, at, end) === 0) {
          zeros += end - at
          continue
        }
        // The start of a short run of zeros can lie in an earlier window. It stays a hole there, which reads as zeros too.
        const start = zeros < minHoleSize ? Math.max(at - zeros, 0) : at
        const last = runs.at(-1)
        if (last && start <= last.end) last.end = end
        else runs.push({ start, end })
        zeros = 0
      }
      return runs
    },
    skip(count: number): void {
      zeros += count
    },
  }
}

const writeRuns = async (
  file: FileHandle,
  window: Buffer,
  runs: readonly DataRun[],
  position: number,
): Promise<void> => {
  for (const { start, end } of runs) await writeAll(file, window.subarray(start, end), position + start)
}

interface WriteCallbacks {
  /** Called before a write with its number of bytes, without holes. An exception ends the writing. */
  readonly onWrite: (bytes: number) => void
  /** Called after a write with its number of bytes. The next write waits for the result. */
  readonly onWritten?: (bytes: number) => Promise<void>
  /** Called with the number of bytes of content, with holes, since the last call. */
  readonly onProgress: (bytes: number) => void
  /** Called with the content itself, window by window. It is the whole content if that has no `ZeroRun`. */
  readonly onData?: ((bytes: Uint8Array) => void) | undefined
}

/**
 * Creates a function that fills a new file with a content and returns its size. Runs of zeros from 64 KiB on become holes; a
 * `ZeroRun` costs nothing, however long it is. The function fills one window while it writes the other. It uses the same two
 * windows for all files, so it must not fill two files at the same time.
 */
export const createSparseWriter = () => {
  let [window, otherWindow] = [Buffer.allocUnsafeSlow(windowSize), Buffer.allocUnsafeSlow(windowSize)]

  return async (
    file: FileHandle,
    content: AsyncIterable<Uint8Array | ZeroRun>,
    { onWrite, onWritten, onProgress, onData }: WriteCallbacks,
  ): Promise<number> => {
    const finder = createDataRunFinder()
    let filled = 0
    let position = 0
    let failure: { readonly error: unknown } | undefined
    let writing: Promise<void> | undefined

    const waitForWrite = async (): Promise<void> => {
      await writing
      if (failure) throw failure.error
    }
    const flush = async (): Promise<void> => {
      const bytes = window.subarray(0, filled)
      onData?.(bytes)
      const runs = finder.findDataRuns(bytes)
      const dataSize = runs.reduce((sum, { start, end }) => sum + end - start, 0)
      onWrite(dataSize)
      await waitForWrite()
      writing = writeRuns(file, bytes, runs, position)
        .then(() => onWritten?.(dataSize))
        .catch((error: unknown) => {
          failure = { error }
        })
      position += filled
      onProgress(filled)
      ;[window, otherWindow] = [otherWindow, window]
      filled = 0
    }
    const add = async (bytes: Uint8Array): Promise<void> => {
      for (let at = 0; at < bytes.length;) {
        const part = bytes.subarray(at, at + windowSize - filled)
        window.set(part, filled)
        filled += part.length
        at += part.length
        if (filled === windowSize) await flush()
      }
    }
    const addZeros = async (count: number): Promise<void> => {
      const toWindowEnd = Math.min(count, windowSize - filled)
      window.fill(0, filled, filled + toWindowEnd)
      filled += toWindowEnd
      if (filled === windowSize) await flush()
      // Only whole windows are skipped, so that the data after them keeps its position relative to the blocks.
      const rest = (count - toWindowEnd) % windowSize
      const skipped = count - toWindowEnd - rest
      if (skipped > 0) {
        finder.skip(skipped)
        position += skipped
        onProgress(skipped)
      }
      window.fill(0, filled, filled + rest)
      filled += rest
    }

    try {
      for await (const part of content) await ('zeros' in part ? addZeros(part.zeros) : add(part))
      if (filled > 0) await flush()
    } finally {
      await writing
    }
    await waitForWrite()
    if (finder.trailing > 0) await file.truncate(position)
    return position
  }
}
