import { lchown, lstat, open } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { abortable } from '#lib/async/abortable.ts'
import { ServiceError } from '#lib/errors.ts'
import { connectIn, listenPrivately } from '#lib/platform/local-socket.ts'
import { fileNames } from '../file-names.ts'
import type { Qmp } from '../qmp.ts'
import { cancelMigration, configureMigration, waitForEnd } from '../saved-memory.ts'

/** Bytes of the largest state of devices. That of a machine with a screen has the memory of the screen, which is 16 MB. */
const maxSize = 256 * 2 ** 20

/** Reads all that comes over a connection. */
const readAll = async (connection: Socket): Promise<Buffer> => {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of connection as AsyncIterable<Buffer>) {
    parts.push(part)
    size += part.length
    if (size > maxSize) throw new ServiceError('upstream', 'QEMU sent more state of its devices than a machine has.')
  }
  return Buffer.concat(parts)
}

/**
 * Returns the state of the devices of a paused machine. The images of its disks are inactive then: QEMU takes them back when the
 * guest continues. Throws the error of QEMU, and the reason of `deadline`.
 */
export const saveDeviceState = async (qmp: Qmp, home: string, deadline: AbortSignal): Promise<Buffer> => {
  await using folder = await open(home, 'r')
  const server = createServer()
  const received = Promise.withResolvers<Buffer>()
  received.promise.catch(() => {})
  server.once('connection', connection => {
    server.close()
    readAll(connection).then(received.resolve, received.reject)
  })
  // By way of the open folder, since the length of a socket's path is limited.
  const path = `/proc/self/fd/${folder.fd}/${fileNames.memorySocket}`
  try {
    await listenPrivately(server, path)
    const { uid, gid } = await lstat(join(home, fileNames.runFolder))
    if (uid !== process.getuid?.()) await lchown(path, uid, gid)
    await configureMigration(qmp, { withoutMemory: true })
    await qmp.execute('migrate', { uri: `unix:${fileNames.memorySocket}` })
    const { status, 'error-desc': why } = await waitForEnd(qmp, () => deadline.aborted)
    deadline.throwIfAborted()
    if (status !== 'completed')
      throw new ServiceError('upstream', `QEMU did not give the state of its devices: ${why ?? status ?? 'no reason'}.`)
    return await abortable(received.promise, deadline)
  } catch (error) {
    await cancelMigration(qmp, AbortSignal.timeout(5_000)).catch(() => {})
    throw error
  } finally {
    server.close()
    await configureMigration(qmp, { withoutMemory: false }).catch(() => {})
  }
}

const openSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

/** A QEMU that waits for the state of the devices of another one. Disposing closes the way to it. */
export interface IncomingState extends Disposable {
  /** Sends the state. Resolves when QEMU has taken all of it; QEMU says itself what is wrong with it. */
  send(state: Buffer): Promise<void>
}

/** Has a QEMU that was started for it wait for the state of the devices of another one. */
export const openDeviceState = async (qmp: Qmp, home: string): Promise<IncomingState> => {
  await qmp.execute('migrate-set-capabilities', { capabilities: [{ capability: 'x-ignore-shared', state: true }] })
  await qmp.execute('migrate-incoming', { uri: `unix:${fileNames.forkSocket}` })
  const socket = await connectIn(home, fileNames.forkSocket, openSocket)
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  socket.resume()
  return {
    async send(state) {
      socket.end(state)
      await closed
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
}
