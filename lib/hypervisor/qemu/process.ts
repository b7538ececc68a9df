import { type FileHandle, mkdir, open, readFile, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { connectIn } from '#lib/platform/local-socket.ts'
import type { Log } from '#lib/platform/log.ts'
import { type Account, commandLine, killProcess, lastLine, startDetached } from '#lib/platform/processes.ts'
import { fileNames } from './arguments.ts'
import { removePid, writePid } from './pid.ts'
import { connectQmp, type Qmp, type QmpEvent } from './qmp.ts'

/** A running QEMU with its control connection. */
export interface RunningQemu {
  readonly pid: number
  readonly qmp: Qmp
}

/** The parameters that all QEMU processes of a machine share. */
export interface LaunchContext {
  readonly id: string
  readonly home: string
  readonly program: string
  readonly environment: NodeJS.ProcessEnv
  /** The account that QEMU runs as; undefined for that of the service. */
  readonly account: Account | undefined
  /** Gives that account access to the machine's files. */
  readonly prepare: () => Promise<void>
  /** Resolves when the guest's serial output is recorded. */
  readonly record: (deadline: AbortSignal) => Promise<void>
  /** Called for a QEMU of an older version, which writes its serial log itself. */
  readonly onLegacyLog: () => void
  readonly log: Log
}

/** Milliseconds within which the recorder must record a QEMU that was found running. */
const recordTimeout = 10_000

const readOutput = async (home: string): Promise<string> =>
  readFile(join(home, fileNames.qemuLog), 'utf8').then(
    text => text,
    () => '',
  )

/** True if the disk is so full that QEMU could not write its error message. */
const isDiskFull = (home: string): Promise<boolean> =>
  statfs(home).then(
    ({ bavail, bsize }) => bavail * bsize < 65_536,
    () => false,
  )

/** Returns why QEMU has exited, from the last line of its output. */
export const explainExit = async ({
  home,
  account,
}: Pick<LaunchContext, 'home' | 'account'>): Promise<ServiceError> => {
  const output = await readOutput(home)
  const lastMessage = lastLine(output).replace(/^qemu-system-\w+: /, '')
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
]

const Uuid = z.object({ UUID: z.string() })

/**
 * Connects to the machine's control socket and checks that it belongs to this machine: QEMU can write to that folder, and a link
 * there could lead to the QEMU of another machine. Throws `upstream`.
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

/** Starts the machine's QEMU; resolves when it accepts commands. Throws the reason of QEMU, or that of the deadline. */
export const launchQemu = async (
  context: LaunchContext,
  { args, descriptors, onEvent, deadline }: LaunchOptions,
): Promise<RunningQemu> => {
  const { home, program, environment, account, prepare, record, log } = context
  await mkdir(join(home, fileNames.runFolder), { recursive: true, mode: 0o700 })
  await prepare()
  // A file of another account could not be overwritten.
  for (const name of recreatedFiles) await rm(join(home, name), { force: true })
  const output = await openOutput(home)
  const { pid, exited } = await startDetached(program, args, {
    cwd: home,
    output: output.fd,
    environment,
    account,
    ...(descriptors && { descriptors }),
  }).finally(() => output.close())
  const exit = new AbortController()
  void exited.then(() => {
    exit.abort()
    try {
      removePid(home, pid)
    } catch (error) {
      // A folder that nobody may change keeps the file, which names no living QEMU any more.
      log.warning('The pid file of a QEMU that has ended stays: {reason}', { reason: messageOf(error) })
    }
  })
  try {
    writePid(home, pid)
  } catch (error) {
    killProcess(pid)
    throw error
  }
  let failure: unknown
  // QEMU waits for the recorder before it accepts commands.
  const recording = record(AbortSignal.any([deadline, exit.signal])).catch((error: unknown) => {
    failure = error
  })
  while (!exit.signal.aborted) {
    const qmp = await connectControl(context, onEvent).catch(() => undefined)
    if (qmp) {
      await recording
      return { pid, qmp }
    }
    if (deadline.aborted || failure !== undefined) {
      killProcess(pid)
      throw deadline.aborted ? deadline.reason : failure
    }
    await wait(10)
  }
  throw await explainExit(context)
}

/** Connects to a QEMU that was found running, and has its serial output recorded. */
export const reattach = async (
  context: LaunchContext,
  pid: number,
  onEvent: (event: QmpEvent) => void,
): Promise<RunningQemu> => {
  const { id, record, onLegacyLog, log } = context
  if (!(await commandLine(pid))?.includes(fileNames.serialLine)) onLegacyLog()
  else
    await record(AbortSignal.timeout(recordTimeout)).catch((error: unknown) =>
      log.error('{id}: its serial output is not recorded: {reason}', { id, reason: messageOf(error) }),
    )
  return { pid, qmp: await connectControl(context, onEvent) }
}
