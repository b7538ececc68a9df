import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import { listenPrivately } from '#lib/platform/local-socket.ts'
import { openSerialLog } from '../../files/serial-log.ts'
import { fileNames } from '../file-names.ts'

/** The recording of one run of a machine, from the start of its QEMU to its exit. */
export interface Recording {
  /** Identifies this run of the machine. */
  readonly runId: string
  /** Resolves when QEMU has exited and all output of its guest is in the log. */
  readonly ended: Promise<void>
  /** Sends to the guest what a client sends. The client is disconnected when the run ends. */
  addInput(client: Socket): void
}

interface Options {
  readonly id: string
  readonly runId: string
  /** The machine's folder, relative to the working folder, since the length of a socket's path is limited. */
  readonly home: string
  /** Maximum size of the log in bytes. */
  readonly limit: number
  readonly log: Logger
}

/** Bytes that a client may lag behind before it is disconnected. This bounds the memory and never delays the guest. */
const maxBacklog = 1 << 20

/**
 * Records a guest's serial output to its log and serves the line on another socket, since QEMU serves only one client. Each client
 * gets the output from then on, and its input goes to the guest.
 */
export const startRecording = async (line: Socket, { id, runId, home, limit, log }: Options): Promise<Recording> => {
  const clients = new Set<Socket>()
  const serialLog = openSerialLog(join(home, fileNames.serialLog), {
    limit,
    onDrop: error => log.error('{id}: serial output is dropped: {reason}', { id, reason: messageOf(error) }),
  })
  // Synchronous, so that the disk slows down a flooding guest and the output does not pile up in memory.
  line.on('data', bytes => {
    serialLog.write(bytes)
    for (const client of clients) if (client.writableLength > maxBacklog) client.destroy()
    for (const client of clients) client.write(bytes)
  })
  // Each client adds listeners while it waits for the line to drain.
  line.setMaxListeners(0)
  const inputs = new Set<Socket>()
  const addInput = (client: Socket): void => {
    inputs.add(client)
    client.on('close', () => inputs.delete(client))
    client.pipe(line, { end: false })
  }
  const server = createServer(client => {
    clients.add(client)
    client.on('error', () => client.destroy())
    client.on('close', () => clients.delete(client))
    addInput(client)
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  line.on('error', () => line.destroy())
  line.once('close', () => {
    for (const client of inputs) client.destroySoon()
    server.close()
    serialLog[Symbol.dispose]()
    resolve()
  })
  try {
    await listenPrivately(server, join(home, fileNames.serialSocket))
  } catch (error) {
    log.warning('{id}: the socket of its serial line cannot be opened: {reason}', { id, reason: messageOf(error) })
  }
  return { runId, ended, addInput }
}
