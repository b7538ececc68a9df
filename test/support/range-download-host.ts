/**
 * A process that downloads a pack from a slow provider into a folder, and prints after each part how many bytes have arrived.
 * A test kills it. Arguments: the file of the pack, the size of a range or 0, the folder.
 */
import { createReadStream, readFileSync, writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { openRangeDownload } from '#lib/transfers/download/range-download.ts'
import { packSource } from './pack-source.ts'

const [file, rangeSize, folder] = process.argv.slice(2) as [string, string, string]
let received = 0
const slowly = async function* (start: number, end: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file, { start, end: end - 1, highWaterMark: 512 * 1024 })) {
    received += (chunk as Buffer).length
    writeSync(1, `${received}\n`)
    yield chunk as Buffer
    await wait(2)
  }
}
const { source } = packSource(
  readFileSync(file),
  Number(rangeSize) || undefined,
  (_, { range }) =>
    Readable.toWeb(Readable.from(slowly(range.start, range.end))) as unknown as ReadableStream<Uint8Array>,
)
const download = await openRangeDownload(source, folder, { signal: new AbortController().signal, onProgress: () => {} })
for (let at = 0; at < source.size;) at = await download.waitFor(at)
await download.close()
