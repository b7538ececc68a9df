import { type FileHandle, lchown, lstat, open } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { waitAtMost } from '#lib/async/time-limit.ts'
import { ServiceError } from '#lib/errors.ts'
import { listenPrivately } from '#lib/platform/local-socket.ts'
import { copyStream } from '#lib/platform/processes.ts'
import { fileNames } from './file-names.ts'

/** Receives the memory that QEMU sends to a socket in its machine's folder, and writes it to a file. */
export interface MemoryReceiver extends AsyncDisposable {
  /** Resolves when QEMU has sent everything and the file is durable. Rejects with what went wrong. */
  readonly received: Promise<void>
  /** Returns the first error so far. */
  failure(): unknown
  /** Stops receiving. QEMU sees its connection closed. */
  abort(reason: unknown): void
}

/** Milliseconds between two syncs of the file. They keep the last sync short. */
const syncInterval = 500

/** Writes the data of the connection to the file until it ends or `signal` aborts. The file is durable when it resolves. */
const writeConnection = async (connection: Socket, file: FileHandle, signal: AbortSignal): Promise<void> => {
  const copied = copyStream(connection, file.fd, signal)
  while (!(await waitAtMost(copied, syncInterval))) await file.datasync()
  await file.sync()
}

/** Returns a short path of the folder, since the length of a socket's path is limited. */
const getShortPath = (folder: FileHandle, home: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : home

/**
 * Listens on a socket in `home` that only the accounts of QEMU and of the service can open. Writes the data of the first connection
 * to `file`.
 */
export const receiveMemory = async (home: string, file: FileHandle): Promise<MemoryReceiver> => {
  const folder = await open(home, 'r')
  const path = join(getShortPath(folder, home), fileNames.memorySocket)
  // The copying program reads from the first byte on, so Node must not read anything.
  const server = createServer({ pauseOnConnect: true })
  const { promise: received, resolve, reject } = Promise.withResolvers<void>()
  const abortController = new AbortController()
  let writing: Promise<void> | undefined
  let failure: unknown
  const abort = (reason: unknown): void => {
    failure ??= reason
    abortController.abort(reason)
    reject(reason)
  }
  // Avoids an unhandled rejection if QEMU never connects and nothing awaits the promise.
  received.catch(() => {})
  server.once('connection', connection => {
    server.close()
    writing = writeConnection(connection, file, abortController.signal).then(resolve, abort)
  })
  const dispose = async (): Promise<void> => {
    abort(new ServiceError('upstream', 'The memory of the machine was not received to its end.'))
    await new Promise(closed => server.close(closed))
    await writing
    await folder.close()
  }
  try {
    await listenPrivately(server, path)
    // QEMU creates its own files in this folder, so its owner is the account that QEMU runs as.
    const { uid, gid } = await lstat(join(home, fileNames.runFolder))
    if (uid !== process.getuid?.()) await lchown(path, uid, gid)
  } catch (error) {
    await dispose()
    throw error
  }
  return { received, failure: () => failure, abort, [Symbol.asyncDispose]: dispose }
}
