import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { readBoundedSync } from '#lib/platform/bounded-file.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'

/**
 * The least number of commits of a sealed database, in a file beside it. A database with fewer commits is an older copy or
 * has lost writes. There is one counter per data key, because a database that replaces another has another data key.
 */
const Counters = z.array(z.object({ key: z.string(), commits: z.int(), mac: z.string() }))
type Counters = z.infer<typeof Counters>

const getCounterFile = (file: string): string => `${file}.commits`

const computeMac = (dataKey: Uint8Array, text: string): string =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', dataKey, '', 'vmhost store commits', 32)))
    .update(text)
    .digest('base64')

const computeKeyId = (dataKey: Uint8Array): string => computeMac(dataKey, 'key').slice(0, 16)

/** Reads the counters. An unreadable file counts as a missing one. */
const readCounters = (file: string): Counters => {
  if (!existsSync(getCounterFile(file))) return []
  try {
    return Counters.parse(JSON.parse(readBoundedSync(getCounterFile(file)).toString('utf8')))
  } catch {
    return []
  }
}

const readCommitCount = (file: string, dataKey: Uint8Array): number | undefined => {
  const counter = readCounters(file).find(({ key }) => key === computeKeyId(dataKey))
  if (!counter) return undefined
  const [actual, expected] = [Buffer.from(counter.mac), Buffer.from(computeMac(dataKey, String(counter.commits)))]
  return actual.length === expected.length && timingSafeEqual(actual, expected) ? counter.commits : undefined
}

/**
 * Throws `unavailable` when a sealed database has fewer commits than the counter says.
 * @param commits undefined for a database of the first version, which counts none and needs no counter
 */
export const refuseOlderCopy = (file: string, dataKey: Uint8Array, commits: number | undefined): void => {
  const counted = readCommitCount(file, dataKey)
  if (counted === undefined ? commits === undefined : (commits ?? 0) >= counted) return
  const found =
    commits === undefined
      ? 'it is of a version that counts no commits, as an older vmhost writes it'
      : `it has ${commits} commits`
  const why =
    counted === undefined
      ? `${getCounterFile(file)} does not say how old it may be`
      : `${found}, and there were ${counted} at least`
  throw new ServiceError(
    'unavailable',
    `The store ${file} is not the one that was here last: ${why}. Nothing was changed; put the right one back, or say that it is to be used by: vmhost storage restore ${file}`,
  )
}

/** Writes the counter of a data key, if it changed. `replaceOthers` removes the counters of other data keys. */
export const writeCommitCount = async (
  file: string,
  dataKey: Uint8Array,
  commits: number,
  replaceOthers: boolean,
): Promise<void> => {
  const key = computeKeyId(dataKey)
  const before = readCounters(file)
  const others = replaceOthers ? [] : before.filter(one => one.key !== key)
  const after = JSON.stringify([...others, { key, commits, mac: computeMac(dataKey, String(commits)) }])
  if (JSON.stringify(before) !== after) await writeFileAtomic(getCounterFile(file), after)
}

/** Removes the counters, because the database will be replaced by one whose commits are unknown. */
export const removeCommitCounts = (file: string): Promise<void> => rm(getCounterFile(file), { force: true })

/** Updates the counter of a database in use after its commits. */
export interface CommitCounter extends AsyncDisposable {
  /** Call it after each commit. It writes in the background, at most once a second. */
  count(): void
}

const interval = 1_000
// Read at load, so that fake timers of a test do not stop the counter.
const { setTimeout: after, clearTimeout: stop } = globalThis

/** Opens the counter of the database in `file`. When a write fails, the next one includes it. */
export const openCommitCounter = (file: string, dataKey: Uint8Array, commits: () => number): CommitCounter => {
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  const write = (): void => {
    timer = undefined
    writing = writing.then(() => writeCommitCount(file, dataKey, commits(), true)).catch(() => undefined)
  }
  return {
    count: () => void (timer ??= after(write, interval).unref()),
    async [Symbol.asyncDispose]() {
      stop(timer)
      write()
      await writing
    },
  }
}
