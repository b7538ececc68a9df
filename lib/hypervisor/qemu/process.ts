import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import { commandLine, killProcess, lastLine, startDetached } from '#lib/platform/processes.ts'
import { files } from './arguments.ts'
import { connectQmp, type Qmp, type QmpEvent } from './qmp.ts'

/** A QEMU that runs, and the connection to it. */
export interface Live {
  readonly pid: number
  readonly qmp: Qmp
}

/** The longest path of a UNIX socket that every system takes. */
const longestSocketPath = 100

/** A serial log beyond this many bytes moves aside when its machine starts, and is cut while it runs. */
const serialLimit = 1 << 20

/** Connects to a socket in `home` however long its path is: by way of an open folder where it is too long. */
const connectIn = async (home: string, name: string, heard: (event: QmpEvent) => void): Promise<Qmp> => {
  const path = join(home, name)
  if (path.length <= longestSocketPath) return connectQmp(path, heard)
  if (process.platform !== 'linux')
    throw new ServiceError('unavailable', `The path ${path} is too long for a socket; use a shorter state folder.`)
  const folder = openSync(home, 'r')
  try {
    return await connectQmp(`/proc/self/fd/${folder}/${name}`, heard)
  } finally {
    closeSync(folder)
  }
}

/** The pid of the QEMU of machine `id`, if it lives. A pid alone proves nothing: they are used again. */
export const livingPid = async (home: string, id: string): Promise<number | undefined> => {
  const pid = Number(await readFile(join(home, files.pid), 'utf8').catch(() => '0'))
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  return (await commandLine(pid))?.includes(id) ? pid : undefined
}

/** Moves a long serial log aside while nobody writes it. */
const boundSerialLog = async (home: string): Promise<void> => {
  const log = join(home, files.serialLog)
  const size = await stat(log).then(
    found => found.size,
    () => 0,
  )
  if (size > serialLimit) await rename(log, `${log}.1`)
}

const outputOf = async (home: string): Promise<string> =>
  readFile(join(home, files.output), 'utf8').then(
    text => text,
    () => '',
  )

/** Why a QEMU that has ended did so, by the last line that it wrote. */
export const refusal = async (home: string): Promise<ServiceError> => {
  const output = await outputOf(home)
  const reason = lastLine(output).replace(/^qemu-system-\w+: /, '') || 'it gave no reason'
  return /no space left|cannot allocate memory/i.test(output)
    ? new ServiceError('no-space', `The host has no room for this machine: ${reason}`)
    : new ServiceError('upstream', `QEMU refused to start the machine: ${reason}`)
}

/** Starts QEMU for the machine in `home`; settles when it takes commands. Throws what QEMU gave as its reason. */
export const launch = async (
  program: string,
  args: readonly string[],
  home: string,
  heard: (event: QmpEvent) => void,
  deadline: AbortSignal,
): Promise<Live> => {
  await mkdir(join(home, 'run'), { recursive: true, mode: 0o700 })
  await boundSerialLog(home)
  await rm(join(home, files.control), { force: true })
  const output = openSync(join(home, files.output), 'w', 0o600)
  const { pid, exited } = await startDetached(program, args, { cwd: home, output }).finally(() => closeSync(output))
  let ended = false
  void exited.then(() => {
    ended = true
  })
  while (!ended) {
    const qmp = await connectIn(home, files.control, heard).catch(() => undefined)
    if (qmp) return { pid, qmp }
    if (deadline.aborted) {
      killProcess(pid)
      throw deadline.reason
    }
    await wait(10)
  }
  throw await refusal(home)
}

/** Connects to a QEMU that lives already. */
export const adopt = async (home: string, pid: number, heard: (event: QmpEvent) => void): Promise<Live> => ({
  pid,
  qmp: await connectIn(home, files.control, heard),
})

/** Settles when the process is gone; kills it when it is still there after `patience` milliseconds. */
export const ended = async (pid: number, id: string, patience: number): Promise<void> => {
  const end = Date.now() + patience
  while ((await commandLine(pid))?.includes(id)) {
    if (Date.now() > end) killProcess(pid)
    await wait(5)
  }
}
