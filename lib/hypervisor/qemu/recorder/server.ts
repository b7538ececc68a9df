import { readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import type { Logger } from '#lib/platform/log.ts'
import { readBoundedSync } from '#lib/platform/bounded-file.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { listenPrivately } from '#lib/platform/local-socket.ts'
import { limitLogSize } from '../../files/serial-log.ts'
import { fileNames } from '../file-names.ts'
import { recorderFiles } from './file-names.ts'
import { recorderCommands, recorderReply } from './requests.ts'
import { createRecordings } from './recordings.ts'

interface Options {
  /** The recorder's own folder. The working folder contains the machines' folders. */
  readonly folder: string
  readonly limit: number
  readonly log: Logger
}

/** Milliseconds between two checks whether the recorder is still needed. */
const checkInterval = 1_000
/** Milliseconds without a machine after which the recorder exits. */
const idleTimeout = 5_000

/** Records every machine in the working folder, until none runs or another recorder has replaced this one. */
export const serveRecorder = async ({ folder, limit, log }: Options): Promise<void> => {
  const pidFile = join(folder, recorderFiles.pid)
  const recordings = createRecordings({ limit, log })
  let pendingRequests = 0
  let idleSince = performance.now()

  await writeFileAtomic(pidFile, String(process.pid))
  const server = createServer(client => {
    const disconnected = new AbortController()
    client.on('error', () => client.destroy())
    client.on('close', () => disconnected.abort())
    client.once('data', request => {
      const [id = '', command] = request.toString('latin1').trim().split(' ')
      pendingRequests += 1
      recordings
        .attach(id, disconnected.signal)
        .then(
          () => {
            if (command !== recorderCommands.input) return client.end(recorderReply)
            // The client sends input after the reply, so none of it came with the request.
            if (recordings.addInput(id, client)) client.write(recorderReply)
            else client.destroy()
          },
          () => client.destroy(),
        )
        .finally(() => (pendingRequests -= 1))
    })
  })
  await listenPrivately(server, relative('.', join(folder, recorderFiles.socket)))
  for (const id of await readdir('.')) await recordings.tryAttach(id)

  const isReplaced = (): boolean => {
    try {
      return readBoundedSync(pidFile).toString('latin1') !== String(process.pid)
    } catch {
      return true
    }
  }
  setInterval(() => {
    const ids = recordings.ids()
    // A guest can also make its QEMU print without limit.
    for (const id of ids) limitLogSize(join(id, fileNames.qemuLog), limit)
    const now = performance.now()
    if (ids.length > 0 || pendingRequests > 0) idleSince = now
    if (isReplaced() || now - idleSince > idleTimeout) process.exit()
  }, checkInterval)
}
