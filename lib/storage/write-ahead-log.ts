import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { readBoundedSync } from '#lib/platform/bounded-file.ts'

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const headerSize = 32
/** Far more bytes than a log has: SQLite writes it into the database after each 4 MB. */
const maxLogSize = 2 ** 30
const frameHeaderSize = 24
const magic = 0x377f0682

/** The two running sums of SQLite's checksum. */
type Sums = readonly [number, number]

interface Frame {
  /** Whether it belongs to the current generation of the log. SQLite overwrites older generations from the beginning. */
  readonly isCurrent: boolean
  /** Whether it ends a transaction. */
  readonly isCommit: boolean
  /** The checksum that the frame stores. */
  readonly sums: Sums
  /** The checksum of the frame's content, after those of the frames before it. */
  computeSums(before: Sums): Sums
  /** Whether the frame is undamaged and follows a frame with this checksum. */
  follows(before: Sums): boolean
}

const readWords = (bytes: Buffer, isBigEndian: boolean, from: number, to: number): Int32Array => {
  // A copy, because the words must be aligned.
  const part = Buffer.from(bytes.subarray(from, to))
  // Typed arrays have this machine's order, which is little-endian wherever Node runs by default.
  if (isBigEndian) part.swap32()
  return new Int32Array(part.buffer, part.byteOffset, part.byteLength / 4)
}

const updateSums = ([one, two]: Sums, words: Int32Array): Sums => {
  for (let at = 0; at < words.length; at += 2) {
    // The words come in pairs, so both are there. This runs for each word, where a default would cost time.
    one = (one + words[at]! + two) | 0
    two = (two + words[at + 1]! + one) | 0
  }
  return [one, two]
}

const isSame = (a: Sums, b: Sums): boolean => a[0] === b[0] && a[1] === b[1]

const readSums = (bytes: Buffer, at: number): Sums => [bytes.readInt32BE(at), bytes.readInt32BE(at + 4)]

/**
 * Describes the damage of a write-ahead log; undefined when it is undamaged or ends in an unfinished transaction. SQLite
 * itself takes the log to end at the first bad frame and drops the rest silently. Each transaction is on disk before the
 * next one is written, so a valid frame after a bad one shows that the bad one was valid once.
 */
export const findDamage = (log: Buffer): string | undefined => {
  if (log.length < headerSize) return undefined
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1
  const pageSize = log.readUInt32BE(8)
  const headerSums = updateSums([0, 0], readWords(log, isBigEndian, 0, headerSize - 8))
  const isHeaderGood = (log.readUInt32BE(0) & ~1) >>> 0 === magic && isSame(headerSums, readSums(log, headerSize - 8))
  if (!isHeaderGood) return log.subarray(0, headerSize).every(byte => byte === 0) ? undefined : 'its header is damaged'

  const salts = log.subarray(16, 24)
  const frameSize = frameHeaderSize + pageSize
  const readFrame = (at: number): Frame => {
    const sums = readSums(log, at + 16)
    const computeSums = (before: Sums): Sums => {
      const head = updateSums(before, readWords(log, isBigEndian, at, at + 8))
      return updateSums(head, readWords(log, isBigEndian, at + frameHeaderSize, at + frameSize))
    }
    const [first, second] = [log.subarray(at + 8, at + 12), log.subarray(at + 12, at + 16)]
    const isSalt = [first.equals(salts.subarray(0, 4)), second.equals(salts.subarray(4))] as const
    return {
      // A flipped bit damages one of the two salts; a frame of another generation matches neither.
      isCurrent: isSalt[0] || isSalt[1],
      isCommit: log.readUInt32BE(at + 4) !== 0,
      sums,
      computeSums,
      follows: before => isSalt[0] && isSalt[1] && isSame(computeSums(before), sums),
    }
  }

  let sums = headerSums
  let at = headerSize
  for (; at + frameSize <= log.length; at += frameSize) {
    const frame = readFrame(at)
    if (!frame.follows(sums)) break
    sums = frame.sums
  }
  if (at + frameSize > log.length) return undefined
  const badFrame = readFrame(at)
  const damage = `frame ${(at - headerSize) / frameSize + 1} is damaged, and a later one is not`
  // Either the content or the checksum of the bad frame can be right.
  let before: readonly Sums[] = [badFrame.sums, badFrame.computeSums(sums)]
  let hasEnded = badFrame.isCurrent && badFrame.isCommit
  for (let next = at + frameSize; next + frameSize <= log.length; next += frameSize) {
    const frame = readFrame(next)
    const isWhole = before.some(one => frame.follows(one))
    // A power cut can leave a hole in an unfinished transaction, which is no damage.
    if (isWhole && (hasEnded || (frame.isCommit && badFrame.isCurrent))) return damage
    hasEnded ||= frame.isCurrent && frame.isCommit
    before = [frame.sums]
  }
  return undefined
}

/** Throws when the write-ahead log beside a database is damaged, or the database is not in WAL mode. Changes nothing. */
export const checkWal = (file: string): void => {
  const log = `${file}-wal`
  if (!existsSync(log)) return
  const bytes = readBoundedSync(log, maxLogSize)
  const damage = findDamage(bytes)
  if (damage !== undefined)
    throw new Error(
      `its log ${log} is damaged (${damage}). Opening the store without the log would lose the last writes: restore a backup, or move both files away and examine them`,
    )
  const head = Buffer.alloc(20)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, head, 0, head.length, 0)
  } finally {
    closeSync(handle)
  }
  // With any other number there SQLite ignores the log.
  if (bytes.length >= headerSize && (head[18] !== 2 || head[19] !== 2)) throw new Error('its header is damaged')
}
