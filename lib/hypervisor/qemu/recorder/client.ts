import { closeSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { readBounded, readTail } from '#lib/platform/bounded-file.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import { connectIn } from '#lib/platform/local-socket.ts'
import type { Logger } from '#lib/platform/log.ts'
import { readCommandLine, killProcess, getLastLine, startDetached } from '#lib/platform/processes.ts'
import type { OwnProgram } from '#lib/platform/program-parts.ts'
import { recorderFiles } from './file-names.ts'
import { type RecorderCommand, recorderCommands } from './requests.ts'

/** Client of the recorder of serial output: one process for all machines, which outlives the service. */
export interface Recorder extends Disposable {
  /**
   * Resolves when the machine's present run is recorded; starts the recorder if none runs. Throws `unavailable` if it does not
   * start, and the deadline's reason.
   */
  attach(id: string, deadline: AbortSignal): Promise<void>
  /**
   * Opens a connection whose bytes go to the guest of a running machine. The recorder closes it when the guest has stopped. Throws
   * as `attach`.
   */
  openInput(id: string, deadline: AbortSignal): Promise<Socket>
}

interface Options {
  /** The recorder's program. */
  readonly program: OwnProgram
  /** The recorder's own folder. */
  readonly folder: string
  /** The existing folder that contains the machines' folders. */
  readonly machinesFolder: string
  /** Maximum size of a machine's log in bytes. */
  readonly limit: number
  readonly environment: NodeJS.ProcessEnv
  /** True if a machine runs whose output would be lost without a recorder. */
  readonly isNeeded: () => boolean
  readonly log: Logger
}

const pollInterval = 10
/** Milliseconds within which a started recorder must accept connections. */
const startTimeout = 10_000
/** Milliseconds before a recorder that has exited is started again: the first delay and the longest. */
const [firstDelay, longestDelay] = [10, 10_000]
/** Milliseconds of uptime after which the restart delay is reset. */
const stableTime = 30_000

const openSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

/** Sends a request to the recorder. Returns the connection; undefined if no recorder runs, or if it exits before it has replied. */
const sendRequest = async (
  folder: string,
  id: string,
  command: RecorderCommand,
  deadline: AbortSignal,
): Promise<Socket | undefined> => {
  const socket = await connectIn(folder, recorderFiles.socket, openSocket).catch(() => undefined)
  if (!socket) return undefined
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>()
  const onAbort = (): void => void socket.destroy()
  deadline.addEventListener('abort', onAbort)
  socket.on('error', () => socket.destroy())
  socket.once('data', () => resolve(socket))
  socket.once('close', () => resolve(undefined))
  socket.write(`${id} ${recorderCommands[command]}\n`)
  try {
    return await promise
  } finally {
    deadline.removeEventListener('abort', onAbort)
  }
}

export const createRecorder = (options: Options): Recorder => {
  const { program, folder, machinesFolder, limit, environment, isNeeded, log } = options
  // Another version of the program, or another limit, changes the command line, so the recorder is replaced.
  const args = [...program.args, folder, String(limit), program.readVersion()]
  const expectedCommand = [process.execPath, ...args].join(' ')
  let connection: Socket | undefined
  let starting: Promise<void> | undefined
  let closed = false
  let delay = 0

  /** Finds the running recorder of the pid file. The pid alone is no proof, since pids are reused. */
  const findRunning = async (): Promise<{ readonly pid: number; readonly command: string } | undefined> => {
    const pid = Number(await readBounded(join(folder, recorderFiles.pid)).then(String, () => '0'))
    if (!Number.isInteger(pid) || pid <= 1) return undefined
    const command = (await readCommandLine(pid))?.trim()
    return command?.includes(` ${folder} `) ? { pid, command } : undefined
  }
  const killRecorder = async (pid: number): Promise<void> => {
    killProcess(pid)
    while ((await findRunning())?.pid === pid) await wait(pollInterval)
  }
  const startRecorder = async (onExit: () => void): Promise<void> => {
    await makePrivateFolder(folder)
    const output = openSync(join(folder, recorderFiles.log), 'w', 0o600)
    try {
      const { exited } = await startDetached(process.execPath, args, { cwd: machinesFolder, output, environment })
      void exited.then(onExit)
    } finally {
      closeSync(output)
    }
  }
  const explainExit = async (): Promise<ServiceError> => {
    const reason = getLastLine(await readTail(join(folder, recorderFiles.log)))
    return new ServiceError(
      'unavailable',
      `The recorder of serial output does not start: ${reason || 'it gave no reason'}`,
    )
  }
  const connectOrStart = async (): Promise<void> => {
    const found = await findRunning()
    if (found && found.command !== expectedCommand) await killRecorder(found.pid)
    let ended = false
    if (found?.command !== expectedCommand) await startRecorder(() => (ended = true))
    const startDeadline = performance.now() + startTimeout
    for (;;) {
      const socket = await connectIn(folder, recorderFiles.socket, openSocket).catch(() => undefined)
      if (socket) return watchConnection(socket)
      if (ended || performance.now() > startDeadline) throw await explainExit()
      await wait(pollInterval)
    }
  }
  /** Keeps a connection open. When it ends, the recorder has exited. */
  const watchConnection = (socket: Socket): void => {
    if (closed) return void socket.destroy()
    const connectedAt = performance.now()
    connection = socket
    socket.unref()
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      connection = undefined
      starting = undefined
      delay =
        performance.now() - connectedAt > stableTime
          ? firstDelay
          : Math.min(Math.max(delay * 2, firstDelay), longestDelay)
      if (!closed && isNeeded()) void restart()
    })
  }
  const ensureRunning = (): Promise<void> => {
    starting ??= connectOrStart().catch((error: unknown) => {
      starting = undefined
      throw error
    })
    return starting
  }
  const restart = async (): Promise<void> => {
    log.warning('The recorder of serial output has ended; it is started again.')
    await wait(delay, undefined, { ref: false })
    if (closed || !isNeeded()) return
    // The new recorder finds the running machines by itself.
    await ensureRunning().catch((error: unknown) => {
      log.error('{reason}', { reason: messageOf(error) })
      delay = longestDelay
      void restart()
    })
  }

  const request = async (id: string, command: RecorderCommand, deadline: AbortSignal): Promise<Socket> => {
    for (;;) {
      await ensureRunning()
      const socket = await sendRequest(folder, id, command, deadline)
      if (socket) return socket
      deadline.throwIfAborted()
      await wait(pollInterval)
    }
  }

  return {
    async attach(id, deadline) {
      const socket = await request(id, 'record', deadline)
      socket.destroy()
    },
    openInput: (id, deadline) => request(id, 'input', deadline),
    [Symbol.dispose]() {
      closed = true
      connection?.destroy()
    },
  }
}
