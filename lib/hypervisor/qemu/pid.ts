import { closeSync, constants, fstatSync, linkSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readCommandLine, killProcess } from '#lib/platform/processes.ts'
import { fileNames } from './file-names.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Reads a pid file without blocking. Returns undefined if it is not a regular file with a pid. */
const readPid = (path: string): number | undefined => {
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) return undefined
      const text = Buffer.alloc(32)
      const pid = Number(text.toString('latin1', 0, readSync(file, text)))
      return Number.isInteger(pid) && pid > 1 ? pid : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** True if a process is a QEMU of machine `id`. The pid alone is no proof, since pids are reused. */
export const isQemuOf = async (id: string, pid: number): Promise<boolean> =>
  (await readCommandLine(pid))?.includes(` -uuid ${id} `) ?? false

/** As `isQemuOf`, for an untrusted pid: on Linux it also checks that the process runs in the machine's folder. */
const isQemuInFolder = async (home: string, id: string, pid: number): Promise<boolean> => {
  if (!(await isQemuOf(id, pid))) return false
  if (process.platform !== 'linux') return true
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === (await realpath(home))
}

/** Returns the pid of the running QEMU of machine `id`. */
export const findLivingPid = async (home: string, id: string): Promise<number | undefined> => {
  const pid = readPid(join(home, fileNames.pidFile))
  return pid !== undefined && (await isQemuOf(id, pid)) ? pid : undefined
}

/** Writes the pid file of a started QEMU. Throws if the file exists. */
export const writePid = (home: string, pid: number): void =>
  writeFileSync(join(home, fileNames.pidFile), String(pid), { flag: 'wx', mode: 0o600 })

/** Deletes the pid file of a QEMU that has exited, unless it names another process by now. */
export const removePid = (home: string, pid: number): void => {
  const path = join(home, fileNames.pidFile)
  if (readPid(path) === pid) rmSync(path, { force: true })
}

/**
 * Moves the pid file of a QEMU that an older version of the service started. That file is where QEMU can write, so it is trusted
 * once, at the start of the service, and only for a QEMU of this machine. A hard link works on a full disk.
 */
export const migrateLegacyPid = async (home: string, id: string): Promise<void> => {
  const [path, legacyPath] = [join(home, fileNames.pidFile), join(home, fileNames.legacyPid)]
  const pid = readPid(legacyPath)
  if (pid === undefined || (await findLivingPid(home, id)) !== undefined || !(await isQemuInFolder(home, id, pid)))
    return
  rmSync(path, { force: true })
  linkSync(legacyPath, path)
  // The file may have been replaced meanwhile.
  rmSync(readPid(path) === pid ? legacyPath : path, { force: true })
}

/**
 * Kills a QEMU of machine `id` whose service was killed before it wrote the pid file. Its guest has not started, because QEMU still
 * waits for the recorder. Works only on Linux, where processes can be listed.
 */
export const killUnrecorded = async (home: string, id: string): Promise<void> => {
  if (process.platform !== 'linux' || (await findLivingPid(home, id)) !== undefined) return
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger))
    if (await isQemuInFolder(home, id, pid)) killProcess(pid)
}

/** Resolves when the QEMU of machine `id` has exited; kills it after `timeout` milliseconds. */
export const waitForExit = async (pid: number, id: string, timeout: number): Promise<void> => {
  const end = Date.now() + timeout
  while (await isQemuOf(id, pid)) {
    if (Date.now() > end) killProcess(pid)
    await wait(5)
  }
}
