import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { readTail } from '#lib/platform/bounded-file.ts'
import { connectIn } from '#lib/platform/local-socket.ts'
import type { Logger } from '#lib/platform/log.ts'
import { type Account, readCommandLine, killProcess, getLastLine, startDetached } from '#lib/platform/processes.ts'
import { fileNames } from './file-names.ts'
import { removePid, writePid } from './pid.ts'
import { connectQmp, type Qmp, type QmpEvent } from './qmp.ts'

/** A running QEMU with its control connection. */
export interface RunningQemu {
  readonly pid: number
  readonly qmp: Qmp
}

/** What all QEMU processes of a machine have in common. */
export interface LaunchContext {
  readonly id: string
  readonly home: string
  readonly program: string
  readonly environment: NodeJS.ProcessEnv
  /** The account that QEMU runs as; undefined for that of the service. */
  readonly account: Account | undefined
  /** Gives `account` access to the machine's files. */
  readonly grantAccess: () => Promise<void>
  /** Gives a QEMU that has just been started the limits that a process can have. */
  readonly limitProcess: (pid: number) => Promise<void>
  /** Gives a running QEMU all limits of the machine. */
  readonly restoreLimits: (running: RunningQemu) => Promise<void>
  /** Has the recorder record the serial output of the guest. Resolves when the recorder is connected. */
  readonly recordSerialOutput: (deadline: AbortSignal) => Promise<void>
  /** Called when an older version of the service started this QEMU, which writes its serial log itself. */
  readonly onLegacyLog: () => void
  readonly log: Logger
}

/** Milliseconds within which the recorder must connect to a QEMU that ran before the service started. */
const recorderTimeout = 10_000

/** Milliseconds between two tries to connect to a QEMU that starts. */
const connectInterval = 3

/** Free bytes with which QEMU can write its error message. */
const minFreeBytes = 65_536

/** True if the disk is so full that QEMU could not write its error message. */
const isDiskFull = (home: string): Promise<boolean> =>
  statfs(home).then(
    ({ bavail, bsize }) => bavail * bsize < minFreeBytes,
    () => false,
  )

/** What QEMU prints at each start, and what is no reason to exit. */
const informativeLine = /^.*: info: .*$/gm

/** Returns why QEMU has exited, from the last line of its output. */
export const explainExit = async ({
  home,
  account,
}: Pick<LaunchContext, 'home' | 'account'>): Promise<ServiceError> => {
  const output = (await readTail(join(home, fileNames.qemuLog))).replaceAll(informativeLine, '')
  const lastMessage = getLastLine(output).replace(/^qemu-system-\w+: /, '')
  const full = lastMessage === '' && (await isDiskFull(home))
  const reason = full ? 'its disk is full' : lastMessage || 'it gave no reason'
  if (account && /permission denied/i.test(reason))
    return new ServiceError(
      'upstream',
      `QEMU refused to start the machine: ${reason}. It runs as ${account.user} (qemu_user), who must be able to open that file.`,
    )
  return full || /no space left|cannot allocate memory/i.test(output)
    ? new ServiceError('no-space', `The host has no room for this machine: ${reason}`)
    : new ServiceError('upstream', `QEMU refused to start the machine: ${reason}`)
}

/** Files that are created again at each start. */
const recreatedFiles = [
  fileNames.pidFile,
  fileNames.legacyPid,
  fileNames.controlSocket,
  fileNames.spareControlSocket,
  fileNames.serialLine,
  fileNames.agentSocket,
  fileNames.forkSocket,
  fileNames.screenSocket,
  fileNames.screenshot,
]

const Uuid = z.object({ UUID: z.string() })

/**
 * Connects to the machine's control socket. Checks that the QEMU behind it is that of this machine: QEMU can write to the folder
 * of the socket, and a link there could lead to another machine. Throws `upstream`.
 */
const connectControl = async (
  { id, home }: Pick<LaunchContext, 'id' | 'home'>,
  onEvent: (event: QmpEvent) => void,
): Promise<Qmp> => {
  const qmp = await connectIn(home, fileNames.controlSocket, path => connectQmp(path, onEvent))
  try {
    if ((await qmp.query('query-uuid', Uuid)).UUID === id) return qmp
    throw new ServiceError('upstream', 'The control socket in its folder is that of another machine.')
  } catch (error) {
    qmp.close()
    throw error
  }
}

interface LaunchOptions {
  readonly args: readonly string[]
  /** Open files that QEMU inherits as its descriptors 3, 4, …, in this order. */
  readonly descriptors?: readonly number[]
  readonly onEvent: (event: QmpEvent) => void
  readonly deadline: AbortSignal
}

/** Creates an empty file for the output of QEMU, in append mode, so that it can be truncated while QEMU has it open. */
const openOutput = async (home: string): Promise<FileHandle> => {
  const path = join(home, fileNames.qemuLog)
  await rm(path, { force: true })
  return open(path, 'ax', 0o600)
}

/** Removes the pid file when QEMU exits. The returned signal aborts then. */
const watchExit = ({ home, log }: LaunchContext, pid: number, exited: Promise<unknown>): AbortSignal => {
  const exit = new AbortController()
  void exited.then(() => {
    exit.abort()
    try {
      removePid(home, pid)
    } catch (error) {
      // The folder may be read-only. The file that stays names no running QEMU.
      log.warning('The pid file of a QEMU that has ended stays: {reason}', { reason: messageOf(error) })
    }
  })
  return exit.signal
}

/** Starts the machine's QEMU. Resolves when it accepts commands. Throws why QEMU has exited, or the reason of the deadline. */
export const launchQemu = async (
  context: LaunchContext,
  { args, descriptors, onEvent, deadline }: LaunchOptions,
): Promise<RunningQemu> => {
  const { home, program, environment, account, grantAccess, limitProcess, recordSerialOutput } = context
  await mkdir(join(home, fileNames.runFolder), { recursive: true, mode: 0o700 })
  await grantAccess()
  // QEMU cannot overwrite the files of another account, which a changed `qemu_user` leaves behind.
  for (const name of recreatedFiles) await rm(join(home, name), { force: true })
  const output = await openOutput(home)
  const { pid, exited } = await startDetached(program, args, {
    cwd: home,
    output: output.fd,
    environment,
    account,
    ...(descriptors && { descriptors }),
  }).finally(() => output.close())
  const exitSignal = watchExit(context, pid, exited)
  try {
    writePid(home, pid)
  } catch (error) {
    killProcess(pid)
    throw error
  }
  let failure: unknown
  // QEMU waits for the recorder before it accepts commands and starts the guest.
  const recording = limitProcess(pid)
    .then(() => recordSerialOutput(AbortSignal.any([deadline, exitSignal])))
    .catch((error: unknown) => {
      // The recording ends with QEMU, and then the reason is that of QEMU.
      if (!exitSignal.aborted) failure = error
    })
  while (!exitSignal.aborted) {
    const qmp = await connectControl(context, onEvent).catch(() => undefined)
    if (qmp) {
      await recording
      return { pid, qmp }
    }
    if (deadline.aborted || failure !== undefined) {
      killProcess(pid)
      throw deadline.aborted ? deadline.reason : failure
    }
    await wait(connectInterval)
  }
  throw await explainExit(context)
}

/**
 * Connects to a QEMU that ran before the service started. Has its serial output recorded again, and gives it its limits again: the
 * service may have been killed in the middle of a change.
 */
export const reattach = async (
  context: LaunchContext,
  pid: number,
  onEvent: (event: QmpEvent) => void,
): Promise<RunningQemu> => {
  const { id, recordSerialOutput, restoreLimits, onLegacyLog, log } = context
  if (!(await readCommandLine(pid))?.includes(fileNames.serialLine)) onLegacyLog()
  else
    await recordSerialOutput(AbortSignal.timeout(recorderTimeout)).catch((error: unknown) =>
      log.error('{id}: its serial output is not recorded: {reason}', { id, reason: messageOf(error) }),
    )
  const running = { pid, qmp: await connectControl(context, onEvent) }
  await restoreLimits(running).catch((error: unknown) =>
    log.error('{id}: its limits are not kept: {reason}', { id, reason: messageOf(error) }),
  )
  return running
}
