import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { rename, rm } from 'node:fs/promises'
import { UsageError } from '../usage-error.ts'

/**
 * Writes the bytes of a reply to a file, or to standard output without one. The file has them all, or is not there.
 * @param reply a stream of bytes; any other reply is written as JSON
 */
export const writeReply = async (reply: unknown, file: string | undefined): Promise<void> => {
  const source =
    reply instanceof ReadableStream
      ? Readable.fromWeb(reply as never)
      : Readable.from([typeof reply === 'string' ? reply : `${JSON.stringify(reply, undefined, 2)}\n`])
  if (file === undefined || file === '-') {
    if (process.stdout.isTTY && reply instanceof ReadableStream)
      throw new UsageError(
        'A terminal cannot show these bytes. Name a file with --output, or redirect standard output.',
      )
    return pipeline(source, process.stdout, { end: false })
  }
  const unfinished = `${file}.part`
  try {
    await pipeline(source, createWriteStream(unfinished))
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
