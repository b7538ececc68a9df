import { open, readFile } from 'node:fs/promises'

/** A part of a file, in bytes. */
export interface Range {
  readonly start: number
  readonly end: number
}

const pageSize = 4096
/** Bytes of an entry of the page map. */
const entrySize = 8
/** The bit of the upper half of an entry that says that the page is in memory (`PM_PRESENT` of the kernel). */
const presentBit = 2 ** 31
/** Gaps of at most so many pages are copied with what is around them, because each copy has a cost of its own. */
const maxGap = 16
/** Bytes of the page map per read. */
const readSize = 1 << 20

/** A file that a process has mapped as shared memory, in one piece. */
export interface SharedFile {
  readonly inode: string
  /** Bytes. */
  readonly size: number
  readonly address: number
}

/** Returns the files that a process has mapped as shared memory. */
export const listSharedFiles = async (pid: number): Promise<readonly SharedFile[]> =>
  (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n').flatMap(line => {
    const [addresses = '', rights = '', offset = '', , inode = ''] = line.split(/ +/)
    const [address = 0, end = 0] = addresses.split('-').map(text => Number.parseInt(text, 16))
    const isWhole = rights === 'rw-s' && Number.parseInt(offset, 16) === 0
    return isWhole ? [{ inode, size: end - address, address }] : []
  })

/** The parts of a memory file that a process uses, as far as its page map tells. */
export interface UsedRanges {
  readonly ranges: readonly Range[]
  /** The bytes of all pages in the map. */
  readonly counted: number
}

/** Joins the pages that are in memory to ranges. */
const createRangeFinder = () => {
  const ranges: { start: number; end: number }[] = []
  let counted = 0
  let page = 0
  return {
    push(entries: Uint32Array): void {
      // Each entry has two halves, the lower one first.
      for (let at = 1; at < entries.length; at += 2, page += 1) {
        if ((entries[at] ?? 0) < presentBit) continue
        counted += pageSize
        const last = ranges.at(-1)
        if (last && page * pageSize - last.end <= maxGap * pageSize) last.end = (page + 1) * pageSize
        else ranges.push({ start: page * pageSize, end: (page + 1) * pageSize })
      }
    },
    result: (): UsedRanges => ({ ranges, counted }),
  }
}

/** Returns the parts of a file that are in memory, from the page map of a process that has mapped it. */
export const readUsedRanges = async (pid: number, { address, size }: SharedFile): Promise<UsedRanges> => {
  const finder = createRangeFinder()
  await using map = await open(`/proc/${pid}/pagemap`, 'r')
  const [first, total] = [(address / pageSize) * entrySize, (size / pageSize) * entrySize]
  const buffer = Buffer.alloc(Math.min(readSize, total))
  for (let done = 0; done < total;) {
    const { bytesRead } = await map.read(buffer, 0, Math.min(buffer.length, total - done), first + done)
    if (bytesRead === 0 || bytesRead % entrySize !== 0) throw new Error('the page map of QEMU ends early')
    finder.push(new Uint32Array(buffer.buffer, buffer.byteOffset, bytesRead / 4))
    done += bytesRead
  }
  return finder.result()
}
