import { lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * The part of a serial log that was rotated last. Its name says where it begins: `serial.log.START`, where START is the number of
 * bytes that the guest had written before. So `serial.log` itself begins at `start + size`, and nothing else stores an offset.
 * (The older `serial.log.1` counts as a part that begins at byte 1.)
 */
export interface RotatedPart {
  readonly path: string
  /** The offset of its first byte in all output of the guest. */
  readonly start: number
  readonly size: number
  readonly inode: number
}

/** Lists the rotated parts of the log at `path`, the newest first. A crash during a rotation can leave more than one. */
export const listRotatedParts = (path: string): readonly RotatedPart[] => {
  const [folder, prefix] = [dirname(path), `${basename(path)}.`]
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names
    .filter(name => name.startsWith(prefix) && /^(0|[1-9]\d{0,14})$/.test(name.slice(prefix.length)))
    .flatMap(name => {
      const found = lstatSync(join(folder, name), { throwIfNoEntry: false })
      if (!found?.isFile()) return []
      return [
        { path: join(folder, name), start: Number(name.slice(prefix.length)), size: found.size, inode: found.ino },
      ]
    })
    .toSorted((a, b) => b.start - a.start)
}

/** The offset at which the log itself begins, after its newest rotated part. */
export const findLogStart = (newest: RotatedPart | undefined): number => (newest ? newest.start + newest.size : 0)
