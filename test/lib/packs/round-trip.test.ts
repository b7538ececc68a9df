import { createHash } from 'node:crypto'
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { utimesSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import type { UnpackedFile } from '#lib/packs/unpacker.ts'
import { packTar } from '#lib/packs/tar/pack-tar.ts'
import type { Compression } from '#lib/packs/tar/pack-tar.ts'
import { newFolder } from '../../support/folder.ts'
import { bytesOf, streamOf } from './raw-tar.ts'

const limits = { entries: 1000, bytes: 4 * 1024 ** 3, ratio: 100_000 }

const compressions: readonly Compression[] = [
  { kind: 'none' },
  ...[-1, 0, 1, 9].map((level): Compression => ({ kind: 'gzip', level })),
  ...[1, 3].map((level): Compression => ({ kind: 'zstd', level })),
]

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const fill = (folder: string, files: Readonly<Record<string, Uint8Array>>): void => {
  let seconds = 1_700_000_000.5
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
    utimesSync(path, seconds, seconds++)
  }
}

const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map(text => text.replaceAll(/[/\\\p{C}\uFFFD]/gu, '_'))
  .filter(text => text !== '.' && text !== '..' && !text.toLowerCase().startsWith('.vmhost-') && text.isWellFormed())

/** Zeros and other bytes in turn, so that there are holes of every place and length. */
const content = fc
  .array(fc.tuple(fc.nat({ max: 200_000 }), fc.uint8Array({ maxLength: 3000 })), { maxLength: 4 })
  .map(parts => Buffer.concat(parts.flatMap(([zeros, bytes]) => [Buffer.alloc(zeros), bytes])))

/** Files whose names stay apart on every file system: each begins with its number. */
const tree = fc
  .array(fc.tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), content), { maxLength: 8 })
  .map(files => Object.fromEntries(files.map(([names, bytes], index) => [`${index}${names.join('/')}`, bytes])))

describe('a pack', () => {
  test('restores any files, and equal files give equal bytes, in whatever parts the stream arrives', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.constantFrom(...compressions),
        fc.integer({ min: 1, max: 300_000 }),
        async (files, compression, part) => {
          using source = newFolder()
          using target = newFolder()
          fill(source.path, files)
          const packed = await bytesOf(packTar(await listPackFiles(source.path), compression))
          const unpacked = await unpackTar(streamOf(packed, Math.max(part, packed.length >> 9)), target.path, {
            limits,
          })
          expect(Object.fromEntries(unpacked.map(file => [file.name, file]))).toEqual(
            Object.fromEntries(
              Object.entries(files).map(([name, bytes]): [string, UnpackedFile] => [
                name,
                { name, size: bytes.length, sha256: sha256(bytes) },
              ]),
            ),
          )
          for (const [name, bytes] of Object.entries(files))
            expect(readFileSync(join(target.path, name)).equals(bytes)).toBe(true)
          const again = await bytesOf(packTar((await listPackFiles(target.path)).toReversed(), compression))
          expect(again.equals(packed)).toBe(true)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('that is cut off anywhere is refused, unless it was complete there', async () => {
    using source = newFolder()
    fill(source.path, { 'a/config': Buffer.from('x'.repeat(700)), disk: Buffer.from('y'.repeat(1500)) })
    for (const compression of compressions) {
      const packed = await bytesOf(packTar(await listPackFiles(source.path), compression))
      const outcomes = new Map<string, number>()
      const near = packed.length - 14
      for (
        let size = 0;
        size < packed.length;
        size += size < near ? Math.min(near - size, (packed.length >> 5) | 1) : 1
      ) {
        using target = newFolder()
        const cut = await unpackTar(streamOf(packed.subarray(0, size)), target.path, { limits }).then(
          files => files.map(({ name }) => name).join(),
          (error: { fault?: string }) => error.fault ?? 'failed otherwise',
        )
        outcomes.set(cut, (outcomes.get(cut) ?? 0) + 1)
      }
      // A tar that is not compressed cannot tell that there was more: it may be one without its end. Of zstd the last
      // bytes may be missing, which check the rest.
      const allowed = {
        none: ['a/config', 'a/config,disk', 'invalid'],
        gzip: ['invalid'],
        zstd: ['a/config,disk', 'invalid'],
      }
      expect(allowed[compression.kind]).toEqual(expect.arrayContaining([...outcomes.keys()]))
      expect(outcomes.get('invalid')).toBeGreaterThan(20)
    }
  })

  test('keeps modes as far as 755 allows, and times in whole seconds', async () => {
    using source = newFolder()
    using target = newFolder()
    fill(source.path, { run: Buffer.from('x'), secret: Buffer.from('y') })
    chmodSync(join(source.path, 'run'), 0o4777)
    chmodSync(join(source.path, 'secret'), 0o600)
    await unpackTar(packTar(await listPackFiles(source.path), { kind: 'none' }), target.path, { limits })
    const [run, secret] = ['run', 'secret'].map(name => statSync(join(target.path, name)))
    expect(run?.mode).toBe(0o100755)
    expect(secret?.mode).toBe(0o100600)
    expect(run?.mtimeMs).toBe(1_700_000_000_000)
  })

  test('of a sparse disk takes no more space when it is unpacked', async () => {
    using source = newFolder()
    using target = newFolder()
    const path = join(source.path, 'disk.img')
    const file = openSync(path, 'w')
    ftruncateSync(file, 256 * 1024 ** 2)
    // Data that begins and ends between blocks, and short runs of zeros that are not worth a hole.
    for (let index = 0; index < 16; index++) {
      const data = Buffer.alloc(128 * 1024 + 511, index + 1)
      data.fill(0, 50_000, 60_000)
      writeSync(file, data, 0, data.length, index * 15_000_001)
    }
    closeSync(file)
    const unpacked = await unpackTar(
      packTar(await listPackFiles(source.path), { kind: 'zstd', level: 1 }),
      target.path,
      {
        limits,
      },
    )
    const [before, after] = [statSync(path), statSync(join(target.path, 'disk.img'))]
    expect(after.size).toBe(before.size)
    expect(unpacked[0]?.sha256).toBe(sha256(readFileSync(path)))
    expect(after.blocks).toBeLessThanOrEqual(before.blocks * 1.1)
    expect(after.blocks).toBeGreaterThanOrEqual(before.blocks * 0.97)
  })

  test('reports its progress when it is packed and unpacked', async () => {
    using source = newFolder()
    using target = newFolder()
    fill(source.path, { a: Buffer.alloc(20_000_000, 1), b: Buffer.alloc(500, 1) })
    const [packing, unpacking]: [number[], number[]] = [[], []]
    const stream = packTar(
      await listPackFiles(source.path),
      { kind: 'gzip', level: 1 },
      { onProgress: n => packing.push(n) },
    )
    await unpackTar(stream, target.path, { limits, onProgress: n => unpacking.push(n) })
    for (const told of [packing, unpacking]) {
      expect(told.at(-1)).toBe(20_000_500)
      expect(told.length).toBeGreaterThan(3)
      expect(told).toEqual(told.toSorted((one, other) => one - other))
    }
  })
})
