import type { FileHandle } from 'node:fs/promises'
import { writeAll } from '#lib/platform/files.ts'

/** Bytes written at once. */
const windowSize = 1024 * 1024
/** What file systems keep or leave out: bytes of a block. */
const block = 4096
/** Zeros that are worth a hole. */
const shortestHole = 64 * 1024

const zeros = Buffer.alloc(block)

/** A run of zeros in a content, which need not be made to be written. */
export interface Zeros {
  readonly zeros: number
}

/** Bytes of a window to write. */
interface Run {
  readonly start: number
  end: number
}

/** Finds what of a file is not a hole, window after window. */
const createHoleFinder = () => {
  let run = 0
  return {
    /** Zeros at the end of what was looked at. */
    get trailing(): number {
      return run
    },
    runsOf(window: Buffer): readonly Run[] {
      const runs: Run[] = []
      for (let at = 0; at < window.length; at += block) {
        const end = Math.min(at + block, window.length)
        if (window[at] === 0 && window.compare(zeros, 0, end - at, at, end) === 0) {
          run += end - at
          continue
        }
        // What of a short run is in an earlier window stays a hole: a new file has zeros where nothing is written.
        const start = run < shortestHole ? Math.max(at - run, 0) : at
        const last = runs.at(-1)
        if (last && start <= last.end) last.end = end
        else runs.push({ start, end })
        run = 0
      }
      return runs
    },
    skip(zeros: number): void {
      run += zeros
    },
  }
}

const writeRuns = async (file: FileHandle, window: Buffer, runs: readonly Run[], position: number): Promise<void> => {
  for (const { start, end } of runs) await writeAll(file, window.subarray(start, end), position + start)
}

interface Told {
  /** Before they are written: bytes of content that are to be written, holes not counted. */
  readonly onWrite: (bytes: number) => void
  /** Bytes of content, holes included, that have gone by since it was called last. */
  readonly onContent: (bytes: number) => void
  /** After they were written, as many bytes; waited for before more is written. */
  readonly onWritten?: (bytes: number) => Promise<void>
  /** The content itself, window by window: the whole of one that has no runs of zeros. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined
}

/**
 * Gives a function that fills a new file with a content, leaves out its zeros from 64 KiB on, and gives its size. A run of
 * zeros costs nothing, however long it is. While one window is written the next is filled. The two windows are used again
 * for each file, so one file is filled at a time.
 */
export const createSparseWriter = () => {
  let [window, other] = [Buffer.allocUnsafeSlow(windowSize), Buffer.allocUnsafeSlow(windowSize)]

  return async (
    file: FileHandle,
    content: AsyncIterable<Uint8Array | Zeros>,
    { onWrite, onContent, onWritten, onBytes }: Told,
  ): Promise<number> => {
    const finder = createHoleFinder()
    let filled = 0
    let position = 0
    let failure: { readonly error: unknown } | undefined
    let writing: Promise<void> | undefined

    const written = async (): Promise<void> => {
      await writing
      if (failure) throw failure.error
    }
    const flush = async (): Promise<void> => {
      const bytes = window.subarray(0, filled)
      onBytes?.(bytes)
      const runs = finder.runsOf(bytes)
      const toWrite = runs.reduce((sum, { start, end }) => sum + end - start, 0)
      onWrite(toWrite)
      await written()
      writing = writeRuns(file, bytes, runs, position)
        .then(() => onWritten?.(toWrite))
        .catch((error: unknown) => {
          failure = { error }
        })
      position += filled
      onContent(filled)
      ;[window, other] = [other, window]
      filled = 0
    }
    const add = async (bytes: Uint8Array): Promise<void> => {
      for (let at = 0; at < bytes.length;) {
        const piece = bytes.subarray(at, at + windowSize - filled)
        window.set(piece, filled)
        filled += piece.length
        at += piece.length
        if (filled === windowSize) await flush()
      }
    }
    const addZeros = async (count: number): Promise<void> => {
      const toEnd = Math.min(count, windowSize - filled)
      window.fill(0, filled, filled + toEnd)
      filled += toEnd
      if (filled === windowSize) await flush()
      // Whole windows, so that what follows lies in blocks as before.
      const rest = (count - toEnd) % windowSize
      const skipped = count - toEnd - rest
      if (skipped > 0) {
        finder.skip(skipped)
        position += skipped
        onContent(skipped)
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
    await written()
    if (finder.trailing > 0) await file.truncate(position)
    return position
  }
}
