import { createWriteStream } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isSystemError } from '#lib/platform/files.ts'
import { UsageError } from '../usage-error.ts'
import { formatJson } from './text-table.ts'

/** Returns `undefined` for a file that does not exist. */
const ignoreMissing = (error: unknown): undefined => {
  if (!isSystemError(error, 'ENOENT')) throw error
}

const openSource = (reply: unknown): Readable =>
  reply instanceof ReadableStream
    ? Readable.fromWeb(reply as never)
    : Readable.from([typeof reply === 'string' ? reply : `${formatJson(reply)}\n`])

/** Writes all bytes to a file, or leaves it as it was. A device or a pipe is written into: a rename would replace it. */
const writeToFile = async (reply: unknown, file: string): Promise<void> => {
  const present = await stat(file).catch(ignoreMissing)
  if (present && !present.isFile() && !present.isDirectory())
    return pipeline(openSource(reply), createWriteStream(file))
  // The file that a link names is replaced, and the link stays.
  const path = (await realpath(file).catch(ignoreMissing)) ?? file
  // Nobody else knows the name, and a file or link that is there already is not written to.
  const unfinished = `${path}.${crypto.randomUUID()}.part`
  try {
    await pipeline(openSource(reply), createWriteStream(unfinished, { flags: 'wx' }))
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/**
 * Writes the bytes of a reply to a file, or to standard output without one. The file has them all, or is as it was.
 * @param reply a stream of bytes, or text; any other reply is written as JSON
 */
export const writeReply = async (reply: unknown, file: string | undefined): Promise<void> => {
  if (file !== undefined && file !== '-') return writeToFile(reply, file)
  if (process.stdout.isTTY && reply instanceof ReadableStream)
    throw new UsageError('A terminal cannot show these bytes. Name a file with --output, or redirect standard output.')
  return pipeline(openSource(reply), process.stdout, { end: false })
}
