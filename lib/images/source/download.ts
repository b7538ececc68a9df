import { constants } from 'node:fs'
import { open as openHandle, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { isOutage, TransientError, withRetry } from '#lib/async/retry.ts'
import { ServiceError } from '#lib/errors.ts'
import { readBounded } from '#lib/platform/bounded-file.ts'
import { writeAll } from '#lib/platform/files.ts'
import { getHost } from '#lib/platform/outgoing-request.ts'
import type { OpenOutgoing, OpenReply } from '#lib/platform/outgoing.ts'
import { openFollowingRedirects } from './follow-redirects.ts'
import type { CheckRoom } from './disk-room.ts'
import { type KnownFile, planReply } from './reply-plan.ts'

/** The journal of a download, beside its bytes: what tells later whether the file on the server is still the same. */
const journalName = 'download.json'
const Journal = z.object({ validator: z.string().optional(), size: z.int().optional() })

/** Milliseconds without a byte after which a connection is given up. */
const stallTimeout = 60_000
/** Bytes that are written between two looks at the free space of the disk. */
const roomInterval = 4 * 1024 * 1024
/** Bytes that a connection must bring, or it counts as a failed attempt. */
const minProgress = 1024 * 1024
/** The longest that a server may ask to wait, in milliseconds. */
const maxRetryAfter = 60_000

const readJournal = (folder: string): Promise<KnownFile> =>
  readBounded(join(folder, journalName)).then(
    bytes => Journal.safeParse(JSON.parse(bytes.toString('utf8'))).data ?? {},
    () => ({}),
  )

interface Options {
  readonly open: OpenOutgoing
  readonly url: URL
  /** The folder of the download. It may have a part of the file, from an earlier try. */
  readonly folder: string
  /** The name of the file in it. */
  readonly fileName: string
  /** The most bytes of the file. */
  readonly maxBytes: number
  /** True if a digest proves the file afterwards. */
  readonly hasDigest: boolean
  readonly signal: AbortSignal
  /** Called with the bytes that are there, and with those of the whole file as far as that is known. */
  readonly onProgress: (bytes: number, total: number) => void
  readonly checkRoom: CheckRoom
}

/** The body of a reply. Throws a TransientError when the connection ends early, or is silent for too long. */
async function* readBody({ body, close }: OpenReply, host: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  let isStalled = false
  const stall = (): void => {
    isStalled = true
    close()
  }
  let timer = setTimeout(stall, stallTimeout)
  try {
    for await (const chunk of body) {
      clearTimeout(timer)
      yield chunk
      timer = setTimeout(stall, stallTimeout)
    }
  } catch (error) {
    signal.throwIfAborted()
    const what = isStalled ? `sent nothing for ${stallTimeout / 1000} seconds` : 'ended the connection early'
    throw new TransientError(`The host ${host} ${what}.`, error)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Fetches a file from a server that a user has named. When the connection breaks, it goes on where it was, if the server can
 * tell that the file is still the same; so does a later try with the same folder. Throws `forbidden`, `upstream`, `timeout` as
 * `OpenOutgoing`, `too-large`, what `checkRoom` throws, and the reason of the signal.
 */
export const downloadFile = async (options: Options): Promise<void> => {
  const { open, url, folder, fileName, maxBytes, hasDigest, signal, onProgress, checkRoom } = options
  const host = getHost(url)
  await using file = await openHandle(join(folder, fileName), constants.O_RDWR | constants.O_CREAT, 0o600)
  const writeJournal = (known: KnownFile): Promise<void> =>
    writeFile(join(folder, journalName), JSON.stringify(known), { mode: 0o600 })
  const assertSize = (bytes: number): void => {
    if (bytes > maxBytes)
      throw new ServiceError(
        'too-large',
        `The file at ${host} has more than ${maxBytes} bytes, the maximum. The setting image_max_size decides.`,
      )
  }
  /** The most bytes that were there at any time. */
  let reached = 0

  /** Fetches the bytes that are missing. */
  const fetchRest = async (): Promise<void> => {
    const known = await readJournal(folder)
    // Without a validator nobody knows whether the bytes that are there belong to the file as it is now.
    const offset = known.validator === undefined ? 0 : (await file.stat()).size
    // An earlier try has fetched all of it. The digest proves that.
    if (hasDigest && offset > 0 && offset === known.size) return
    const range = known.validator !== undefined &&
      offset > 0 && { Range: `bytes=${offset}-`, 'If-Range': known.validator }
    const reply = await openFollowingRedirects(open, url, { headers: { ...range }, signal, mayDowngrade: hasDigest })
    try {
      const plan = planReply(reply, { host, offset, known })
      if (plan.act === 'restart') {
        await writeJournal({})
        throw new TransientError(`The file at ${host} has changed while it was fetched.`, undefined)
      }
      if (plan.act === 'finish') return
      const { size } = plan.file
      assertSize(size ?? 0)
      if (plan.start === 0) {
        await writeJournal({})
        await file.truncate(0)
      }
      await checkRoom((size ?? plan.start) - plan.start)
      await writeJournal(plan.file)
      let position = plan.start
      let nextCheck = position + roomInterval
      for await (const chunk of readBody(reply, host, signal)) {
        signal.throwIfAborted()
        assertSize(position + chunk.length)
        // The size may be unknown, and others fill the disk too.
        if (position >= nextCheck) {
          await checkRoom(chunk.length)
          nextCheck = position + roomInterval
        }
        await writeAll(file, chunk, position)
        position += chunk.length
        reached = Math.max(reached, position)
        onProgress(position, size ?? maxBytes)
      }
      if (size !== undefined && position !== size)
        throw new TransientError(`The host ${host} sent ${position} bytes of ${size}.`, undefined)
    } finally {
      reply.close()
    }
  }

  /** Makes one connection. Returns whether the file is complete then. */
  const connect = async (): Promise<boolean> => {
    const before = reached
    try {
      await fetchRest()
      return true
    } catch (error) {
      signal.throwIfAborted()
      // A host that never answered is not asked again. One that has sent something may come back.
      if (!(error instanceof ServiceError) || !isOutage(error)) throw error
      if (reached === 0 && !(error instanceof TransientError)) throw error
      // A connection that brought something new is no failed attempt.
      if (reached >= before + minProgress) return false
      const retryAfter = error instanceof TransientError ? error.retryAfterMs : 0
      throw new TransientError(error.message, error, Math.min(retryAfter, maxRetryAfter))
    }
  }
  for (let isComplete = false; !isComplete;) isComplete = await withRetry(connect, signal)
}
