import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitIntoChunks, imageChunkSizes } from '#lib/packs/chunks/chunker.ts'
import { createCutter } from '#lib/packs/chunks/cutter.ts'
import type { Segment } from '#lib/packs/hole-finder.ts'
import { noise, split } from '../chunk-store/bytes.ts'

/** As those of disk images, but small enough for many of them. */
const sizes = { min: 64, average: 256, max: 1024 }

const partsOf = async (bytes: Uint8Array, pieces: readonly number[] = [65_536], of = sizes): Promise<Segment[]> => {
  const parts: Segment[] = []
  for await (const part of splitIntoChunks(split(bytes, pieces), of)) parts.push(part)
  return parts
}
const join = (parts: readonly Segment[]): Buffer =>
  Buffer.concat(parts.map(part => ('zeros' in part ? Buffer.alloc(part.zeros) : part.data)))
const names = (parts: readonly Segment[]): string[] =>
  parts.map(part => ('zeros' in part ? `${part.zeros} zeros` : createHash('sha256').update(part.data).digest('hex')))
const lost = (before: readonly Segment[], after: readonly Segment[]): number => {
  const known = new Set(names(before))
  return names(after).filter(name => !known.has(name)).length
}

/** Data and zeros in turn, with runs that are just a hole and just none. */
const content = fc
  .array(
    fc.record({
      seed: fc.nat(1000),
      data: fc.oneof(fc.nat(70), fc.nat(5_000)),
      zeros: fc.oneof(fc.constantFrom(0, 1, 63, 64, 65, 128), fc.nat(3_000)),
    }),
    { maxLength: 12 },
  )
  .map(runs => Buffer.concat(runs.flatMap(({ seed, data, zeros }) => [noise(data, seed), Buffer.alloc(zeros)])))
const pieces = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4_000 })), { minLength: 1 })

describe('the chunker', () => {
  test('splits the input into the same chunks, in whatever parts it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(content, pieces, async (bytes, sizesOfPieces) => {
        const parts = await partsOf(bytes, sizesOfPieces)
        expect(join(parts).equals(bytes)).toBe(true)
        expect(names(parts)).toEqual(names(await partsOf(bytes, [Math.max(bytes.length, 1)])))
      }),
      { numRuns: 300 },
    )
  })

  test('makes a hole of each run of zeros that is large enough, and of nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(content, pieces, async (bytes, sizesOfPieces) => {
        const found: [number, number][] = []
        let at = 0
        for (const part of await partsOf(bytes, sizesOfPieces)) {
          if ('zeros' in part) found.push([at, part.zeros])
          at += 'zeros' in part ? part.zeros : part.data.length
        }
        const runs = [...bytes.toString('latin1').matchAll(/\0{64,}/g)].map(run => [run.index, run[0].length])
        expect(found).toEqual(runs)
      }),
      { numRuns: 300 },
    )
  })

  test('respects the minimum and maximum sizes', async () => {
    await fc.assert(
      fc.asyncProperty(content, async bytes => {
        const parts = await partsOf(bytes)
        for (const [at, part] of parts.entries()) {
          if ('zeros' in part) continue
          const next = parts[at + 1]
          expect(part.data.length).toBeLessThanOrEqual(sizes.max)
          if (next && !('zeros' in next)) expect(part.data.length).toBeGreaterThanOrEqual(sizes.min)
        }
      }),
      { numRuns: 200 },
    )
    const noisy = await partsOf(noise(1_000_000, 1))
    expect(1_000_000 / noisy.length).toBeGreaterThan(220)
    expect(1_000_000 / noisy.length).toBeLessThan(360)
  })

  test('cuts a run of one byte only at the maximum size', () => {
    const bytes = Buffer.alloc(imageChunkSizes.average + 64 * 1024)
    for (let byte = 0; byte < 256; byte += 1)
      expect([...createCutter(imageChunkSizes).push(bytes.fill(byte))]).toEqual([])
  })

  test('keeps most chunks when bytes are inserted, deleted or changed', async () => {
    const edit = fc.record({
      at: fc.nat(99_000),
      deleted: fc.nat(500),
      inserted: fc.uint8Array({ maxLength: 500 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.array(edit, { minLength: 1, maxLength: 3 }), async (seed, edits) => {
        let bytes: Buffer = noise(100_000, seed)
        const before = await partsOf(bytes)
        for (const { at, deleted, inserted } of edits)
          bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + deleted)])
        // Of about 350: those of the edit itself, and some until the cuts are where they were.
        expect(lost(before, await partsOf(bytes))).toBeLessThanOrEqual(30 * edits.length)
      }),
      { numRuns: 150 },
    )
  })

  test('cuts disk images at the same positions in every version', async () => {
    const bytes = Buffer.concat([
      noise(9_000_000, 1),
      Buffer.alloc(500_000),
      noise(3_000_000, 2),
      Buffer.alloc(262_143),
    ])
    const parts = await partsOf(bytes, [1_000_003], imageChunkSizes)
    expect(parts.map(part => ('zeros' in part ? -part.zeros : part.data.length))).toEqual([
      1085964, 1210172, 1129673, 1455499, 1475694, 464921, 1220895, 957182, -500000, 1322371, 1234010, 705762,
    ])
  })
})
