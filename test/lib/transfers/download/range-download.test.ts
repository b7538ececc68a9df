import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PackSource } from '#lib/transfers/download/pack-source.ts'
import { openRangeDownload } from '#lib/transfers/download/range-download.ts'
import { newFolder } from '../../../support/folder.ts'
import { packSource } from '../../../support/pack-source.ts'
import { seededRandom } from '../../../support/random.ts'
import { rounds } from '../../../support/rounds.ts'

const MiB = 2 ** 20
const concurrency = 4
const kills = rounds(1, 4)
/** What a pull may have to fetch again after a kill, of each lane. */
const mostAgain = 16 * MiB

/** Fetches what is missing, and gives the digest of the whole. */
const fetchAll = async (source: PackSource, folder: string): Promise<string> => {
  const pieces = await openRangeDownload(source, folder, { signal: new AbortController().signal, onProgress: () => {} })
  for (let at = 0; at < source.size;) at = await pieces.waitFor(at)
  await pieces.close()
  return createHash('sha256')
    .update(readFileSync(join(folder, 'pack')))
    .digest('hex')
}

/** Fetches in a process of its own, which is killed as soon as so many bytes have come; gives how many those were. */
const fetchUntilKilled = async (file: string, pieceSize: number, folder: string, bytes: number): Promise<number> => {
  const args = ['test/support/range-download-host.ts', file, String(pieceSize), folder]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (text: Buffer) => {
    printed += text.toString()
    if (Number(printed.split('\n').at(-2)) >= bytes) child.kill('SIGKILL')
  })
  await new Promise(settle => child.once('close', settle))
  return Number(printed.split('\n').at(-2))
}

describe('a pack of 72 MiB that is fetched by a process that is killed', () => {
  test.each([
    ['as our own packs are cut', 8 * MiB],
    ['in pieces that are too large', 64 * MiB],
    ['that nobody has cut', 0],
  ])('%s: at most 16 MiB of each lane come again', async (_, pieceSize) => {
    using folder = newFolder()
    const random = seededRandom(pieceSize + 1)
    const bytes = randomBytes(72 * MiB + 5)
    const file = join(folder.path, 'source')
    writeFileSync(file, bytes)
    const worst: number[] = []
    for (let round = 0; round < kills; round += 1) {
      const place = join(folder.path, `round${round}`)
      mkdirSync(place)
      let came = await fetchUntilKilled(file, pieceSize, place, random() * bytes.length)
      const { source, sha256, asked, bytesAsked } = packSource(bytes, pieceSize || undefined)
      expect(await fetchAll(source, place)).toBe(sha256)
      for (const { start, end } of asked) expect(end - start).toBeLessThanOrEqual(mostAgain)
      came += bytesAsked()
      expect(came).toBeGreaterThanOrEqual(bytes.length)
      expect(came - bytes.length).toBeLessThanOrEqual(concurrency * mostAgain)
      worst.push(came - bytes.length)
    }
    console.log(
      `pieces of ${pieceSize / MiB} MiB: ${worst.map(one => (one / MiB).toFixed(1)).join(', ')} MiB came again`,
    )
  })
})

describe('what an earlier try has left', () => {
  const piece = 64 * 1024
  const bytes = randomBytes(7 * piece + 1)
  const leave = async (folder: string): Promise<void> => {
    const { source, sha256 } = packSource(bytes, piece)
    expect(await fetchAll(source, folder)).toBe(sha256)
  }

  test('is taken as it is', async () => {
    using folder = newFolder()
    await leave(folder.path)
    const { source, sha256, asked } = packSource(bytes, piece)
    expect(await fetchAll(source, folder.path)).toBe(sha256)
    expect(asked).toEqual([])
  })

  test('and is not right is fetched again', async () => {
    using folder = newFolder()
    await leave(folder.path)
    const file = join(folder.path, 'pack')
    const left = readFileSync(file)
    left[3 * piece + 9]! ^= 1
    writeFileSync(file, left.subarray(0, left.length - 1))
    const { source, sha256, asked } = packSource(bytes, piece)
    expect(await fetchAll(source, folder.path)).toBe(sha256)
    expect(asked).toEqual([
      { start: 3 * piece, end: 4 * piece },
      { start: 7 * piece, end: 7 * piece + 1 },
    ])
  })

  test.each(['nonsense\n-1\n1e9\n0.5\n99\n\n', '3'])('is noted by a journal with %j in it', async journal => {
    using folder = newFolder()
    appendFileSync(join(folder.path, 'pieces'), journal)
    const { source, sha256, bytesAsked } = packSource(bytes, piece)
    expect(await fetchAll(source, folder.path)).toBe(sha256)
    expect(bytesAsked()).toBe(bytes.length)
  })
})
