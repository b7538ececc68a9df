import type { ImageFile } from './image-file.ts'
import type { Refuse } from './refusal.ts'

/** Bytes of all tables of one image together. With clusters of 64 KB they describe 2 TB of data. */
const maxTableSize = 256 * 2 ** 20
/** Bits of a map: 64 MB of memory. */
const maxUnits = 2 ** 29
/** Bytes of a table that are in memory at a time; a multiple of the size of any entry. */
const blockSize = 2 ** 20
/** Bytes that are read at once of small tables that follow each other. Small, because the next table can be elsewhere. */
const readAheadSize = 65_536

/**
 * The map of a file whose tables say where its parts are. Each part must be inside the file, and none may be used twice: a small
 * file could otherwise describe tables and data without end. So an image costs no more reading than it has bytes.
 */
export interface FileMap {
  /** Claims a part of the file. `what` names it in refusals. */
  claim(what: string, offset: number, length: number): void
  /** Claims a part that may overlap other shared parts, because parts of this kind begin and end within a unit. */
  claimShared(what: string, offset: number, length: number): void
  /** Claims a table and reads it in blocks of whole entries. */
  readTable(what: string, offset: number, length: number): AsyncGenerator<Buffer>
}

const createBits = (count: number) => {
  const bytes = new Uint8Array(Math.ceil(count / 8))
  const hasAny = (first: number, last: number): boolean => {
    for (let at = first; at <= last; at++) {
      const byte = bytes[at >> 3] ?? 0
      if (at % 8 === 0 && byte === 0) at += 7
      else if ((byte & (1 << (at % 8))) !== 0) return true
    }
    return false
  }
  const add = (first: number, last: number): void => {
    // The array has a bit for each unit, so it has this byte.
    for (let at = first; at <= last; at++) bytes[at >> 3]! |= 1 << (at % 8)
  }
  return { hasAny, add }
}

/** Creates a function that reads as the file does, with fewer calls where the ranges follow each other. */
const createSequentialReader = (file: ImageFile): ImageFile['read'] => {
  let expected = -1
  let ahead: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }
  return async (position, length) => {
    const isNext = position === expected
    expected = position + length
    if (position < ahead.start || expected > ahead.start + ahead.bytes.length) {
      if (!isNext || length >= readAheadSize) return file.read(position, length)
      ahead = { start: position, bytes: await file.read(position, readAheadSize) }
    }
    return ahead.bytes.subarray(position - ahead.start, expected - ahead.start)
  }
}

/** Creates the map of a file in units of so many bytes. Throws by `refuse` what is wrong with a part. */
export const createFileMap = (file: ImageFile, unit: number, refuse: Refuse): FileMap => {
  const count = Math.ceil(file.size / unit)
  if (count > maxUnits) refuse(`it is larger than ${(maxUnits * unit) / 2 ** 30} GB, so its parts cannot be checked`)
  const exclusive = createBits(count)
  let shared: ReturnType<typeof createBits> | undefined
  const read = createSequentialReader(file)
  let tableSize = 0

  const locate = (what: string, offset: number, length: number): readonly [first: number, last: number] => {
    if (!(offset >= 0 && offset + length <= file.size)) refuse(`${what} lies outside the file`)
    const range = [Math.floor(offset / unit), Math.ceil((offset + length) / unit) - 1] as const
    if (exclusive.hasAny(...range)) refuse(`${what} overlaps another part of the file`)
    return range
  }
  const claim: FileMap['claim'] = (what, offset, length) => {
    const range = locate(what, offset, length)
    if (shared?.hasAny(...range) === true) refuse(`${what} overlaps another part of the file`)
    exclusive.add(...range)
  }
  return {
    claim,
    claimShared(what, offset, length) {
      const range = locate(what, offset, length)
      shared ??= createBits(count)
      shared.add(...range)
    },
    async *readTable(what, offset, length) {
      claim(what, offset, length)
      tableSize += length
      if (tableSize > maxTableSize) refuse(`its tables have more than ${maxTableSize / 2 ** 20} MB`)
      for (let done = 0; done < length; done += blockSize)
        yield await read(offset + done, Math.min(blockSize, length - done))
    },
  }
}
