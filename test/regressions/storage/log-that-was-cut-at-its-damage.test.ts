import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { restoreStore } from '#lib/storage/copies/restore.ts'
import { newFolder } from '../../support/folder.ts'
import { bothKinds, copyState, fillKept, openKept, readKept } from '../../support/kept-store.ts'
import { seededRandom } from '../../support/random.ts'

const count = 60
const frameSize = 24 + 4096

describe.for(bothKinds)('the write-ahead log of a store (%s) that was killed', ([, seal]) => {
  /** A folder as a kill leaves it, with most of what was committed in the log. */
  const killed = async (): Promise<ReturnType<typeof newFolder>> => {
    using folder = newFolder()
    const left = newFolder()
    const opened = await openKept(folder.path, seal)
    const counter = join(folder.path, 'store.db.commits')
    // The counter of an encrypted store is written once a second: the kill came before the first write.
    const counted = seal && readFileSync(counter)
    await fillKept(opened, count)
    copyState(folder.path, left.path)
    if (counted) writeFileSync(join(left.path, 'store.db.commits'), counted)
    await opened.store[Symbol.asyncDispose]()
    return left
  }
  const log = (folder: string): string => join(folder, 'store.db-wal')
  const others = (folder: string): readonly string[] =>
    ['store.db', 'store.db-wal'].map(name => readFileSync(join(folder, name)).toString('base64'))

  test('with a bit flipped is refused and left unchanged, or gives the whole content', async () => {
    using whole = await killed()
    using first = newFolder()
    copyState(whole.path, first.path)
    const good = await readKept(first.path, seal)
    const random = seededRandom(seal ? 1 : 2)
    const { length } = readFileSync(log(whole.path))
    // Also at each byte of the headers of the log and of two of its frames.
    const places = [
      ...Array.from({ length: 24 }, () => Math.floor(random() * (length - frameSize))),
      ...Array.from({ length: 32 }, (_, at) => at),
      ...Array.from({ length: 48 }, (_, at) => 32 + (at % 2 ? 0 : frameSize * 20) + Math.floor(at / 2)),
    ]
    let refused = 0
    for (const place of places) {
      using folder = newFolder()
      copyState(whole.path, folder.path)
      const bytes = readFileSync(log(folder.path))
      bytes[place]! ^= 1 << (place % 8)
      writeFileSync(log(folder.path), bytes)
      const before = others(folder.path)
      try {
        expect(await readKept(folder.path, seal), `byte ${place}`).toEqual(good)
      } catch (error) {
        if (!(error instanceof Error) || error.name === 'AssertionError') throw error
        expect(error.message, `byte ${place}`).toContain('restore a backup')
        expect(others(folder.path)).toEqual(before)
        refused += 1
      }
    }
    expect(refused).toBeGreaterThan(90)
  })

  test('that ends in an unfinished transaction opens without that transaction', async () => {
    using whole = await killed()
    const { length } = readFileSync(log(whole.path))
    const open = async (damage: (file: string) => void): Promise<number> => {
      using folder = newFolder()
      copyState(whole.path, folder.path)
      damage(log(folder.path))
      const [items] = (await readKept(folder.path, seal)) as [readonly unknown[]]
      return items.length
    }
    expect(await open(() => {})).toBe(count)
    // Truncate the log in its last frame, after the header and half of the page.
    expect(await open(file => truncateSync(file, length - 2_000))).toBe(count - 1)
    // A power cut: the first page of the last transaction did not reach the disk, the last page did.
    expect(
      await open(file => {
        const bytes = readFileSync(file)
        let start = length - frameSize
        while (bytes.readUInt32BE(start - frameSize + 4) === 0) start -= frameSize
        bytes.fill(0, start, start + frameSize)
        writeFileSync(file, bytes)
      }),
    ).toBe(count - 1)
    expect(await open(file => truncateSync(file, 0))).toBe(0)
    expect(await open(file => rmSync(file))).toBe(0)
  })

  test('is checked too before a copy is restored', async () => {
    using whole = await killed()
    using here = newFolder()
    const bytes = readFileSync(log(whole.path))
    bytes[Math.floor(bytes.length / 3)]! ^= 4
    writeFileSync(log(whole.path), bytes)
    await (await openKept(here.path, seal)).store[Symbol.asyncDispose]()
    await expect(restoreStore(here.path, join(whole.path, 'store.db'), seal)).rejects.toThrow('is damaged')
    // The replaced store may be damaged: it is copied as it is, with its log.
    using backup = newFolder()
    const opened = await openKept(backup.path, seal)
    await fillKept(opened, 3)
    const copy = join(backup.path, 'copy.db')
    await opened.store.backup(copy)
    await opened.store[Symbol.asyncDispose]()
    const { replacedCopy } = await restoreStore(whole.path, copy, seal)
    expect(readFileSync(`${replacedCopy}-wal`).equals(bytes)).toBe(true)
    expect(existsSync(log(whole.path))).toBe(false)
    expect(((await readKept(whole.path, seal)) as [readonly unknown[]])[0]).toHaveLength(3)
  })
})
