import type { FileHandle } from 'node:fs/promises'
import { writeAll } from '#lib/platform/files.ts'
import { createHoleFinder, type ZeroRun } from './hole-finder.ts'

/** Bytes of one write. */
const windowSize = 1024 * 1024
/** Minimum number of zeros that become a hole. */
const minHoleSize = 64 * 1024

/** Data with its position in the file. */
interface DataRun {
  readonly position: number
  readonly data: Uint8Array
}

/** Finds the data of a file and where it belongs, window by window. */
const createDataRunFinder = () => {
  const finder = createHoleFinder(minHoleSize)
  let position = 0
  return {
    findDataRuns(window: Buffer): readonly DataRun[] {
      const runs: DataRun[] = []
      for (const segment of finder.push(window))
        if ('zeros' in segment) position += segment.zeros
        else {
          runs.push({ position, data: segment.data })
          position += segment.data.length
        }
      return runs
    },
    skip: finder.pushZeros,
    /** The end of the data so far. */
    dataEnd: () => position,
  }
}

const writeRuns = async (file: FileHandle, runs: readonly DataRun[]): Promise<void> => {
  for (const { position, data } of runs) await writeAll(file, data, position)
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
      const dataSize = runs.reduce((sum, { data }) => sum + data.length, 0)
      onWrite(dataSize)
      await waitForWrite()
      writing = writeRuns(file, runs)
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
      // What is less than a window is filled in, so that many short runs do not make many short writes.
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
    if (finder.dataEnd() < position) await file.truncate(position)
    return position
  }
}
