/**
 * A process that fetches a pack into a folder from a provider that is slow, and says after each part that came how many
 * bytes have come in all; made to be killed. Arguments: the file of the pack, bytes of a piece or 0, the folder.
 */
import { createReadStream, readFileSync, writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { openRangeDownload } from '#lib/transfers/download/range-download.ts'
import { packSource } from './pack-source.ts'

const [file, pieceSize, folder] = process.argv.slice(2) as [string, string, string]
let came = 0
const slowly = async function* (start: number, end: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file, { start, end: end - 1, highWaterMark: 512 * 1024 })) {
    came += (chunk as Buffer).length
    writeSync(1, `${came}\n`)
    yield chunk as Buffer
    await wait(2)
  }
}
const { source } = packSource(
  readFileSync(file),
  Number(pieceSize) || undefined,
  (_, { range }) =>
    Readable.toWeb(Readable.from(slowly(range.start, range.end))) as unknown as ReadableStream<Uint8Array>,
)
const pieces = await openRangeDownload(source, folder, { signal: new AbortController().signal, onProgress: () => {} })
for (let at = 0; at < source.size;) at = await pieces.waitFor(at)
await pieces.close()
