import { stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exists } from '#lib/platform/files.ts'
import { createOk, createProblem, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

const gigabyte = 1e9

/** Bytes below which commits, or guests that write, soon fail. */
const tooLittle = 0.5 * gigabyte
/** Bytes below which pulls and new disks fail. */
const little = 10 * gigabyte

/** The next folder above a path that is there. */
const findExisting = async (path: string): Promise<string> =>
  (await exists(path)) || dirname(path) === path ? path : findExisting(dirname(path))

const formatSize = (bytes: number): string => `${(bytes / gigabyte).toFixed(1)} GB`

interface Room {
  readonly folder: string
  readonly free: number
  readonly files: number
}

/** The free space of each disk on which the service stores something, by one of the folders on it. */
const measureDisks = async (folders: readonly string[]): Promise<readonly Room[]> => {
  const disks = new Map<number, Room>()
  for (const folder of folders) {
    const there = await findExisting(folder)
    const { dev } = await stat(there)
    const { bavail, bsize, ffree, files } = await statfs(there)
    // Some file systems have no fixed number of files, and say zero of zero.
    if (!disks.has(dev)) disks.set(dev, { folder: there, free: bavail * bsize, files: files === 0 ? Infinity : ffree })
  }
  return [...disks.values()]
}

/** Checks that the disks of the state folder, the backups and the cache have room. */
export const checkDiskSpace = async ({ settings }: Surroundings): Promise<Finding> => {
  const {
    state,
    backup_folder: backups = join(state, 'backups'),
    cache_folder: cache = join(state, 'cache'),
  } = settings
  const rooms = await measureDisks([state, backups, cache])
  const scarce = rooms.toSorted((one, other) => one.free - other.free)[0]
  const crowded = rooms.find(({ files }) => files < 10_000)
  if (crowded)
    return createProblem(
      `The disk of ${crowded.folder} has room for ${crowded.files} more files only.`,
      `du --inodes --one-file-system --max-depth 2 ${crowded.folder} | sort --numeric-sort | tail`,
    )
  if (!scarce || scarce.free >= little)
    return createOk(rooms.map(({ folder, free }) => `${formatSize(free)} free for ${folder}`).join('; '))
  const remedy = `du --human-readable --one-file-system --max-depth 2 ${scarce.folder} | sort --human-numeric-sort | tail`
  return scarce.free < tooLittle
    ? createProblem(
        `The disk of ${scarce.folder} has only ${formatSize(scarce.free)} left. Changes and guests fail soon.`,
        remedy,
      )
    : createWarning(
        `The disk of ${scarce.folder} has only ${formatSize(scarce.free)} left. Pulls and new disks can fail.`,
        remedy,
      )
}
