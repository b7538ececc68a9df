import { createReadStream, mkdtempSync, openSync, closeSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeHold } from '#lib/catalog/chunks/hold.ts'
import { type Written, writeChunked } from '#lib/catalog/chunks/write-chunked.ts'
import { createLocalStorage } from '#lib/catalog/providers/local-storage.ts'
import { noise } from '../lib/catalog/chunks/bytes.ts'
import { makeImage } from '../support/ext4-image.ts'
import { ratioRow, type Row } from './table.ts'

const mebibyte = 1024 * 1024
const runs = 16

/** Changes a tenth of 600 MiB in runs that lie all over them. */
const change = (image: string): void => {
  const file = openSync(image, 'r+')
  for (let run = 0; run < runs; run += 1)
    writeSync(file, noise(Math.floor((60 * mebibyte) / runs), 1000 + run), 0, undefined, (run + 1) * 36 * mebibyte)
  closeSync(file)
}

const dataIn = ({ list }: Written): number => list.chunks.reduce((sum, one) => sum + ('zeros' in one ? 0 : one.size), 0)

/** What a second version of a disk image moves when a tenth of it has changed, and how much less both take together. */
export const chunkRow = async (): Promise<Row> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-chunks-'))
  try {
    const image = makeImage(folder)
    const provider = await createLocalStorage(join(folder, 'catalog'))
    await using hold = await takeHold(provider, 'write')
    const first = await writeChunked(provider, hold, createReadStream(image, { highWaterMark: mebibyte }))
    change(image)
    const second = await writeChunked(provider, hold, createReadStream(image, { highWaterMark: mebibyte }))
    const dedup = (dataIn(first) + dataIn(second)) / (first.sentBytes + second.sentBytes)
    return ratioRow(
      `bytes of a second disk version in chunks, 10 % changed in ${runs} runs (both take 1/${dedup.toFixed(2)})`,
      { measured: second.sentBytes / mebibyte, floor: first.sentBytes / mebibyte, unit: 'MiB' },
      { most: 0.15 },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
