import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFault } from '#lib/errors.ts'
import type { ImageFacts } from '#lib/images/formats/facts.ts'
import { inspectImage } from '#lib/images/formats/inspect-image.ts'
import { newFolder } from '../../support/folder.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { arbitraryChanges } from '../../support/images/arbitrary-changes.ts'
import { convert, readDisk } from '../../support/images/conversion.ts'
import { createCountingFile } from '../../support/images/counting-file.ts'
import { change } from '../../support/images/mutations.ts'
import { archive, manifest, ovaFiles } from '../../support/images/ova-image.ts'
import { cluster, copied, part, qcow2Image } from '../../support/images/qcow2-image.ts'
import { at, seal, vhdxImage } from '../../support/images/vhdx-image.ts'
import { sectors, sparseVmdk, streamVmdk } from '../../support/images/vmdk-image.ts'

type Range = readonly [start: number, end: number]

const stream = streamVmdk()
const ova = archive([...ovaFiles(), ['machine.mf', manifest(ovaFiles())]])
/** The images, where their headers and tables are, and what makes their checksums right again. */
const images: readonly (readonly [format: string, image: Buffer, ranges: readonly Range[], seal?: typeof seal])[] = [
  [
    'qcow2',
    qcow2Image(),
    [
      [0, 120],
      [cluster, cluster + 64],
      [part.l1 * cluster, part.l1 * cluster + 64],
      [part.l2 * cluster, part.l2 * cluster + 128],
    ],
  ],
  [
    'vmdk',
    sparseVmdk(),
    [
      [0, 512],
      [512, 900],
      [sectors.directory * 512, sectors.directory * 512 + 16],
      [sectors.table * 512, sectors.table * 512 + 64],
    ],
  ],
  [
    'vmdk',
    stream,
    [
      [0, 512],
      [stream.length - 7 * 512, stream.length],
    ],
  ],
  [
    'vhdx',
    vhdxImage(),
    [
      [at.headers[0], at.headers[0] + 80],
      [at.headers[1], at.headers[1] + 80],
      [at.regions, at.regions + 80],
      [at.metadata, at.metadata + 200],
      [at.items, at.items + 80],
      [at.table, at.table + 24],
    ],
    seal,
  ],
  [
    'ova',
    ova,
    [
      [0, 512],
      [512, 2000],
      [ova.length - 4096, ova.length],
    ],
  ],
]

/** What the readers say, which is never anything else than facts or `invalid`. */
const judge = async (image: Buffer): Promise<ImageFacts | undefined> => {
  const file = createCountingFile(image)
  try {
    return await inspectImage(file)
  } catch (error) {
    if (isFault(error, 'invalid')) return undefined
    throw error
  } finally {
    expect(file.bytesRead).toBeLessThan(2 * image.length + 2 ** 20)
  }
}

describe('an image with arbitrary numbers in its headers and tables', () => {
  test.for(images)(
    'of the format %s is accepted or invalid, and costs at most two readings',
    async ([, image, ranges, after]) => {
      await fc.assert(
        fc.asyncProperty(arbitraryChanges(ranges), async changes => {
          await judge(change(image, ...changes, ...(after ? [after] : [])))
        }),
        { numRuns: after ? 100 : 500 },
      )
    },
  )

  test.skipIf(withoutQemu).for(images.filter(([format]) => format !== 'ova'))(
    withoutQemu
      ? 'QEMU is not installed: %s'
      : 'of the format %s that is accepted shows a guest what QEMU shows, or has damaged data',
    async ([format, image, ranges, after]) => {
      using folder = newFolder()
      const [path, target] = [join(folder.path, 'image'), join(folder.path, 'target')]
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(arbitraryChanges(ranges), async changes => {
          const changed = change(image, ...changes, ...(after ? [after] : []))
          const facts = await judge(changed)
          // What became another format by its first bytes is a raw disk.
          fc.pre(facts !== undefined && facts.format === format)
          // A disk of terabytes takes long to compare.
          fc.pre(facts.virtualSize <= 64 << 20)
          writeFileSync(path, changed)
          const name = `${target}-${accepted++}`
          try {
            await convert(path, name)
          } catch (error) {
            if (isFault(error, 'invalid')) return
            throw error
          }
          expect(readDisk(folder.path, name).equals(readDisk(folder.path, path, format))).toBe(true)
        }),
        { numRuns: 25 },
      )
    },
  )
})

describe('an image of 10 MB that names its parts again and again', () => {
  const size = 10 * 2 ** 20

  test('is refused after one reading if its level 1 table has one table everywhere', async () => {
    const image = Buffer.alloc(size)
    const clusterSize = 2 ** 16
    qcow2Image().copy(image, 0, 0, 112)
    image.writeUInt32BE(16, 20)
    image.writeBigUInt64BE(2n ** 43n, 24)
    image.writeUInt32BE(2 ** 17, 36)
    image.writeBigUInt64BE(BigInt(2 * clusterSize), 40)
    image.writeBigUInt64BE(BigInt(clusterSize), 48)
    for (let entry = 0; entry < 2 ** 17; entry++)
      image.writeBigUInt64BE(BigInt(20 * clusterSize) | copied, 2 * clusterSize + entry * 8)
    expect(await judge(image)).toBeUndefined()
  })

  test('is read once if it consists of tables', async () => {
    const image = Buffer.alloc(size)
    const clusterSize = 512
    qcow2Image().copy(image, 0, 0, 112)
    image.writeUInt32BE(9, 20)
    const tables = 15_000
    image.writeBigUInt64BE(BigInt(tables * 64 * clusterSize), 24)
    image.writeUInt32BE(tables, 36)
    image.writeBigUInt64BE(BigInt(2 * clusterSize), 40)
    image.writeBigUInt64BE(BigInt(clusterSize), 48)
    for (let entry = 0; entry < tables; entry++)
      // Backwards, so that reading ahead does not help.
      image.writeBigUInt64BE(BigInt(size - (entry + 1) * clusterSize) | copied, 2 * clusterSize + entry * 8)
    expect(await judge(image)).toMatchObject({ format: 'qcow2', dataSize: 0 })
  })
})
