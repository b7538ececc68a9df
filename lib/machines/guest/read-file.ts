import { createHash } from 'node:crypto'
import { isFault, ServiceError } from '#lib/errors.ts'
import { type GuestFile, openGuestFile } from '#lib/hypervisor/agent/guest-file.ts'
import { runGuestScript } from './guest-script.ts'
import type { Guest } from './enter-guest.ts'

/** A file of a guest that is being read. */
export interface GuestFileContent {
  /** Bytes; undefined for a file that has no size, such as those in /proc. */
  readonly size: number | undefined
  /** Undefined unless it was asked for. */
  readonly sha256: Buffer | undefined
  readonly stream: ReadableStream<Uint8Array>
}

// The agent waits for ever when it opens a pipe.
const checkScript =
  'if [ -f "$1" ]; then exit 0; elif [ -d "$1" ]; then exit 12; elif [ -e "$1" ]; then exit 13; fi; exit 11'

/** Milliseconds that the receiver has to take the next bytes: the guest keeps the file open meanwhile. */
const idleLimit = 120_000

const computeDigest = async (file: GuestFile, signal: AbortSignal): Promise<Buffer> => {
  const hash = createHash('sha256')
  for (let bytes = await file.read(signal); bytes.length > 0; bytes = await file.read(signal)) hash.update(bytes)
  return hash.digest()
}

/** Makes a stream of an open file, which it closes at its end. The stream fails if the file has other bytes than were promised. */
const streamFile = (
  file: GuestFile,
  promised: { readonly path: string; readonly size: number | undefined; readonly sha256: Buffer | undefined },
  closing: AsyncDisposableStack,
  signal: AbortSignal,
): ReadableStream<Uint8Array> => {
  const { path, size, sha256 } = promised
  const hash = createHash('sha256')
  let sent = 0
  let idleTimer: NodeJS.Timeout | undefined
  const close = async (): Promise<void> => {
    clearTimeout(idleTimer)
    await closing.disposeAsync()
  }
  const assertComplete = (): void => {
    const isChanged = (size !== undefined && sent !== size) || (sha256 && !hash.digest().equals(sha256))
    if (isChanged) throw new ServiceError('conflict', `${path} has changed while it was read.`)
  }
  return new ReadableStream(
    {
      async pull(controller) {
        clearTimeout(idleTimer)
        try {
          const rest = size === undefined ? Infinity : size - sent
          const bytes = rest === 0 ? Buffer.alloc(0) : (await file.read(signal)).subarray(0, rest)
          sent += bytes.length
          if (bytes.length > 0) {
            hash.update(bytes)
            controller.enqueue(bytes)
            idleTimer = setTimeout(() => {
              controller.error(new ServiceError('timeout', `Nobody has taken the bytes of ${path}.`))
              void close()
            }, idleLimit)
            return
          }
          assertComplete()
          await close()
          controller.close()
        } catch (error) {
          await close()
          throw error
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}

/** Opens a file of a guest. Throws `not-found`, `conflict` for what is no file, and as the agent. */
export const openRegularFile = async (guest: Guest, path: string, signal: AbortSignal): Promise<GuestFile> => {
  if (guest.system === 'posix')
    await runGuestScript(guest, checkScript, [path], signal).catch((error: unknown) => {
      // An agent can have the files without the programs.
      if (!isFault(error, 'unsupported')) throw error
    })
  return openGuestFile(guest.agent, path, 'rb', signal)
}

/**
 * Opens a file of a guest for reading. The stream owns `guest` and disposes of it. With `withDigest` the file is read twice. Throws
 * as `openRegularFile`.
 */
export const readGuestFile = async (
  guest: Guest,
  path: string,
  { withDigest, signal }: { readonly withDigest: boolean; readonly signal: AbortSignal },
): Promise<GuestFileContent> => {
  await using opening = new AsyncDisposableStack()
  opening.use(guest)
  const file = opening.use(await openRegularFile(guest, path, signal))
  const size = (await file.measure(signal)) || undefined
  const sha256 = withDigest ? await computeDigest(file, signal) : undefined
  if (withDigest) await file.measure(signal)
  return { size, sha256, stream: streamFile(file, { path, size, sha256 }, opening.move(), signal) }
}
