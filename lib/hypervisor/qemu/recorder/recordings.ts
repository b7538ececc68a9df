import { lstat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { exists } from '#lib/platform/files.ts'
import type { Logger } from '#lib/platform/log.ts'
import { fileNames } from '../file-names.ts'
import { type Recording, startRecording } from './recording.ts'

/** The recordings of all machines below the working folder. */
export interface Recordings {
  /** Resolves when the present run of the machine is recorded; waits for its QEMU to start. Throws if it is aborted. */
  attach(id: string, signal: AbortSignal): Promise<void>
  /** Starts the recording if QEMU runs. Returns true if the machine is recorded. */
  tryAttach(id: string): Promise<boolean>
  /** Sends to the guest of a machine what a client sends. Returns false if the machine is not recorded. */
  addInput(id: string, client: Socket): boolean
  /** Returns the recorded machines. */
  ids(): readonly string[]
}

interface Options {
  /** Maximum size of a machine's log in bytes. */
  readonly limit: number
  readonly log: Logger
}

/** Milliseconds between two checks for the socket of a starting QEMU. */
const pollInterval = 2

/**
 * Identifies the run of a machine by its socket, which QEMU creates at each start. Returns undefined if there is no socket; a link
 * in its place counts as none.
 */
const readRunId = (path: string): Promise<string | undefined> =>
  lstat(path, { bigint: true }).then(
    found => (found.isSocket() ? `${found.ino} ${found.ctimeNs}` : undefined),
    () => undefined,
  )

const openSocket = (path: string): Promise<Socket | undefined> =>
  new Promise(resolve => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(undefined))
  })

export const createRecordings = ({ limit, log }: Options): Recordings => {
  const recordings = new Map<string, Recording>()
  const pendingAttempts = new Map<string, Promise<boolean>>()

  const attachIfRunning = async (id: string): Promise<boolean> => {
    const path = join(id, fileNames.serialLine)
    const runId = await readRunId(path)
    // A QEMU without a pid file could not be found again, so its guest must not start yet.
    if (runId === undefined || !(await exists(join(id, fileNames.pidFile)))) return false
    const current = recordings.get(id)
    // The recording of an earlier run ends by itself first, so its last output precedes that of the next run.
    if (current) return current.runId === runId
    const line = await openSocket(path)
    if (!line) return false
    const recording = await startRecording(line, { id, runId, home: id, limit, log })
    recordings.set(id, recording)
    void recording.ended.then(() => recordings.delete(id))
    return true
  }
  const tryAttach = (id: string): Promise<boolean> => {
    const attempt = pendingAttempts.get(id) ?? attachIfRunning(id).finally(() => pendingAttempts.delete(id))
    pendingAttempts.set(id, attempt)
    return attempt
  }
  return {
    tryAttach,
    async attach(id, signal) {
      while (!(await tryAttach(id))) await wait(pollInterval, undefined, { signal })
    },
    addInput(id, client) {
      const recording = recordings.get(id)
      recording?.addInput(client)
      return recording !== undefined
    },
    ids: () => [...recordings.keys()],
  }
}
