import { createReadStream, mkdtempSync, openSync, closeSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { type WrittenContent, writeChunkedContent } from '#lib/packs/chunk-store/write-chunked.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import { noise } from '../lib/packs/chunk-store/bytes.ts'
import { makeImage } from '../support/guests/ext4-image.ts'
import { ratioRow, type Row } from './table.ts'

const mebibyte = 1024 * 1024
const runs = 16

/** Of what is in the image: each run costs about two chunks more than its bytes, so a tenth of much less moves more than 15 %. */
const data = 1200 * mebibyte

/** Changes a tenth of it in runs that lie all over it. */
const change = (image: string): void => {
  const file = openSync(image, 'r+')
  for (let run = 0; run < runs; run += 1)
    writeSync(file, noise(Math.floor(data / 10 / runs), 1000 + run), 0, undefined, (run + 1) * 72 * mebibyte)
  closeSync(file)
}

const dataIn = ({ content: list }: WrittenContent): number =>
  list.chunks.reduce((sum, one) => sum + ('zeros' in one ? 0 : one.size), 0)

/** What a second version of a disk image moves when a tenth of it has changed, and how much less both take together. */
export const chunkRow = async (): Promise<Row> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-chunks-'))
  try {
    const { image } = makeImage(folder, 2)
    const provider = await createLocalStorage(join(folder, 'catalog'))
    await using hold = await acquireRepositoryLock(provider, 'shared')
    const first = await writeChunkedContent(provider, hold, createReadStream(image, { highWaterMark: mebibyte }))
    change(image)
    const second = await writeChunkedContent(provider, hold, createReadStream(image, { highWaterMark: mebibyte }))
    const dedup = (dataIn(first) + dataIn(second)) / (first.sentBytes + second.sentBytes)
    return ratioRow(
      `second version of a disk in chunks, 10 % changed in ${runs} runs (dedup of both ${dedup.toFixed(2)})`,
      { measured: second.sentBytes / mebibyte, floor: first.sentBytes / mebibyte, unit: 'MiB' },
      { most: 0.15 },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
