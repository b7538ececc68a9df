import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, ftruncateSync, openSync, statfsSync, writeSync } from 'node:fs'
import { isFault, ServiceError } from '#lib/errors.ts'

/**
 * Disk space that is reserved for essential commits on a full disk. It is a file of random bytes: it is shortened by a slice
 * when such a commit finds no room, and filled again when the disk has room.
 */
export interface Reserve extends Disposable {
  /** Why the store takes only essential commits now; undefined when it takes all. */
  shortage(): string | undefined
  /** Whether there is room for the essential commit that a call which starts now will make later. Only essential calls may use the last half. */
  hasRoomForFollowUp(essential: boolean): boolean
  /** Runs a write that throws `no-space` when nothing was written. Retries an essential write with space from the reserve. */
  run(essential: boolean, write: () => void): void
}

/** The reserve of a store that has none. */
export const noReserve: Reserve = {
  shortage: () => undefined,
  hasRoomForFollowUp: () => true,
  run: (_, write) => write(),
  [Symbol.dispose]: () => {},
}

// Small, because another program may take the released space before the store does.
const sliceSize = 256 * 1024

const createDiskFullError = (cause?: unknown): ServiceError =>
  new ServiceError(
    'no-space',
    'The disk that the store is on is full, so nothing was changed. Make room: the store takes changes again by itself.',
    { cause },
  )

/**
 * Opens the reserve of `size` bytes in `file`. Creates the file when it does not exist, and fills it while the store is in
 * use. On a full disk it releases a slice at once, because a database cannot be opened without free space.
 */
export const openReserve = (file: string, size: number): Reserve => {
  const handle = openSync(file, 'a+', 0o600)
  // Random, so that file systems with compression or deduplication reserve the space too.
  let content: Buffer | undefined
  let held = Math.min(fstatSync(handle).size, size)
  // A file that is larger than `size` would hold space that is never released.
  ftruncateSync(handle, held)
  let isShort = false
  let filling: NodeJS.Immediate | undefined

  const measureFreeBytes = (): number => {
    const { bavail, bsize } = statfsSync(file)
    return bavail * bsize
  }
  const hasRoom = (): boolean => measureFreeBytes() >= size - held + sliceSize
  const shrink = (): boolean => {
    if (held === 0) return false
    clearImmediate(filling)
    filling = undefined
    held = Math.max(0, held - sliceSize)
    ftruncateSync(handle, held)
    return true
  }
  const fill = (): void => {
    content ??= randomBytes(sliceSize)
    try {
      held += writeSync(handle, content, 0, Math.min(sliceSize, size - held))
      filling = held < size ? setImmediate(fill) : undefined
    } catch {
      // The disk is full again. The file keeps its size; the next commit tries again.
      filling = undefined
    }
  }
  /** Whether the reserve is full or is being filled. Starts to fill it when the disk has room. */
  const isFilledOrFilling = (): boolean => {
    if (held >= size || filling) return true
    if (!hasRoom()) return false
    filling = setImmediate(fill)
    return true
  }

  if (measureFreeBytes() < sliceSize) shrink()
  else isFilledOrFilling()
  return {
    shortage: () =>
      (isShort || (held < size && !filling)) && !hasRoom()
        ? 'its disk is full; it takes changes again by itself when there is room'
        : undefined,
    hasRoomForFollowUp: essential => held >= (essential ? sliceSize : size / 2) || hasRoom(),
    run(essential, write) {
      if (!isFilledOrFilling() && !essential) throw createDiskFullError()
      for (;;) {
        try {
          write()
          isShort = false
          return
        } catch (error) {
          if (!isFault(error, 'no-space')) throw error
          isShort = true
          if (!essential || !shrink()) throw createDiskFullError(error)
        }
      }
    },
    [Symbol.dispose]() {
      clearImmediate(filling)
      closeSync(handle)
    },
  }
}
