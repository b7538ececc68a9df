import type { FileMap } from '../file-map.ts'
import type { ImageFile } from '../image-file.ts'
import type { Refuse } from '../refusal.ts'
import { computeCrc32c } from './crc32c.ts'
import { readGuid } from './guid.ts'

// Structures: [MS-VHDX] 2.2; which of them QEMU uses: block/vhdx.c.

export const megabyte = 2 ** 20
const kilobyte = 1024

interface Range {
  readonly offset: number
  readonly length: number
}

export interface Regions {
  readonly metadata: Range
  /** The block allocation table. */
  readonly table: Range
}

const hasValidChecksum = (bytes: Buffer): boolean => computeCrc32c(bytes, 4) === bytes.readUInt32LE(4)

/** Returns the header that is valid and the newer one. */
const readActiveHeader = async (file: ImageFile, refuse: Refuse): Promise<Buffer> => {
  const both = await Promise.all([64, 128].map(at => file.read(at * kilobyte, 4 * kilobyte)))
  const valid = both
    .filter(
      bytes => bytes.length === 4 * kilobyte && bytes.toString('latin1', 0, 4) === 'head' && hasValidChecksum(bytes),
    )
    .filter(bytes => bytes.readUInt16LE(66) === 1)
    .toSorted((one, other) => Number(other.readBigUInt64LE(8) - one.readBigUInt64LE(8)))
  const [newer, older] = valid
  if (!newer) return refuse('both its headers are damaged')
  if (older && newer.readBigUInt64LE(8) === older.readBigUInt64LE(8) && !newer.equals(older))
    refuse('its two headers are different and equally new')
  return newer
}

const noGuid = '00000000-0000-0000-0000-000000000000'

/** Reads the active header and claims the log. Throws by `refuse` if the log contains what the image lacks. */
export const checkHeaders = async (file: ImageFile, map: FileMap, refuse: Refuse): Promise<void> => {
  const header = await readActiveHeader(file, refuse)
  if (readGuid(header, 48) !== noGuid) refuse('it was not closed: its log has changes that the disk lacks')
  if (header.readUInt16LE(64) !== 0) refuse('its log has an unknown version')
  const [length, offset] = [header.readUInt32LE(68), Number(header.readBigUInt64LE(72))]
  if (length % megabyte !== 0 || offset % megabyte !== 0) refuse('its log is misaligned')
  map.claim('its log', offset, length)
}

const regionNames: Readonly<Record<string, keyof Regions>> = {
  '2dc27766-f623-4200-9d64-115e9bfd4a08': 'table',
  '8b7ca206-4790-4b9a-b8fe-575f050f886e': 'metadata',
}
const maxRegions = 2047

/** Reads the region table, the first of the two as QEMU does. Throws by `refuse` what is wrong with it. */
export const readRegions = async (file: ImageFile, refuse: Refuse): Promise<Regions> => {
  const bytes = await file.read(192 * kilobyte, 64 * kilobyte)
  if (bytes.length < 64 * kilobyte || bytes.toString('latin1', 0, 4) !== 'regi' || !hasValidChecksum(bytes))
    refuse('its region table is damaged')
  const count = bytes.readUInt32LE(8)
  if (count > maxRegions) refuse('its region table is too long')
  const found = new Map<keyof Regions, Range>()
  for (let index = 0; index < count; index++) {
    const at = 16 + 32 * index
    const name = regionNames[readGuid(bytes, at)]
    // An unknown region that is not required could be skipped, but no program writes one.
    if (name === undefined) return refuse('it has a region of an unknown kind')
    if (found.has(name)) refuse('it has two regions of one kind')
    const range = { offset: Number(bytes.readBigUInt64LE(at + 16)), length: bytes.readUInt32LE(at + 24) }
    if (range.offset % megabyte !== 0 || range.length % megabyte !== 0 || range.length === 0)
      refuse('a region is misaligned or empty')
    found.set(name, range)
  }
  const [metadata, table] = [found.get('metadata'), found.get('table')]
  if (!metadata || !table) return refuse('it lacks a region')
  return { metadata, table }
}
