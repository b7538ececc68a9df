import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { isSystemError } from '#lib/platform/files.ts'
import { nameService } from '../network/names.ts'
import { findGroup, type Group } from './find-group.ts'

/** The control groups that limit the processor time of machines: one for each machine that has such a limit. */
export interface CpuGroups {
  /** Why this service cannot limit processor time, as a part of a sentence; undefined if it can. */
  readonly problem: string | undefined
  /**
   * Limits the process of a machine to this percentage of one CPU; undefined ends its limit. Repeatable. Throws `unsupported` if
   * the system refuses that.
   */
  limit(id: string, pid: number, percent: number | undefined): Promise<void>
  /** Removes the group of a machine that does not run. */
  remove(id: string): Promise<void>
  /** Removes the groups of machines of this service that are gone. `ids` are those that are left. */
  reconcile(ids: readonly string[]): Promise<void>
}

/** Microseconds in which a group has its share. That of version 1 is the same by default. */
const period = 100_000
/** Milliseconds within which an ended process must have left its group. */
const removeTimeout = 1_000

/** The limit of a group in both versions: its file, and what is written to it. */
const quotas = {
  1: { file: 'cpu.cfs_quota_us', format: (quota: number | undefined): string => String(quota ?? -1) },
  2: { file: 'cpu.max', format: (quota: number | undefined): string => `${quota ?? 'max'} ${period}` },
} as const

/** The error for a limit that cannot be kept. `reason` is a part of a sentence. */
export const createCpuLimitError = (reason: string): ServiceError =>
  new ServiceError(
    'unsupported',
    `limits: cpu_percent is unsupported here, because ${reason}. Run the service with Delegate=cpu in its systemd unit, or leave the limit out.`,
  )

/** Finds out why a service in this group cannot limit processor time. Changes nothing. */
const findProblem = async (own: Group | undefined): Promise<string | undefined> => {
  if (!own) return 'this host has no control groups for processor time'
  const { version, folder } = own
  if (version === 2) {
    const controllers = await readFile(join(folder, 'cgroup.controllers'), 'utf8').catch(() => '')
    if (!controllers.trim().split(' ').includes('cpu')) return 'the control group of the service has no cpu controller'
  }
  const files = ['.', 'cgroup.procs', ...(version === 2 ? ['cgroup.subtree_control'] : [])]
  const mayWrite = await Promise.all(files.map(file => access(join(folder, file), constants.W_OK))).then(
    () => true,
    () => false,
  )
  return mayWrite ? undefined : 'the service may not write to its control group'
}

/**
 * Makes a group below that of the service. In version 2, the groups of machines are threaded ones: only below such groups
 * a group may have processes of its own, and that of the service has the service.
 */
const makeGroup = async (own: Group, folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  if (own.version === 1) return
  await writeFile(join(folder, 'cgroup.type'), 'threaded')
  await writeFile(join(own.folder, 'cgroup.subtree_control'), '+cpu')
}

/** Removes a group, if it is there. A process that has just ended leaves its group a moment later. */
const removeGroup = async (folder: string): Promise<void> => {
  for (const end = performance.now() + removeTimeout; ; await wait(10)) {
    try {
      return await rmdir(folder)
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return
      if (!isSystemError(error, 'EBUSY') || performance.now() > end) throw error
    }
  }
}

/** Opens the control groups of the machines of a service. `folder` is that of its machines; `proc` is the folder /proc. */
export const openCpuGroups = async (folder: string, proc = '/proc'): Promise<CpuGroups> => {
  const prefix = `${nameService(folder).replace(' ', '-')}-`
  const own = await findGroup(proc, 'self')
  const problem = await findProblem(own)

  /** A process that an earlier service has put into a group is still there, whatever the group of this service is. */
  const findGroupOf = async (id: string, pid: number): Promise<Group | undefined> => {
    const present = await findGroup(proc, pid)
    return present && basename(present.folder) === prefix + id ? present : undefined
  }
  const limitProcess = async (id: string, pid: number, percent: number | undefined): Promise<void> => {
    const present = await findGroupOf(id, pid)
    if (!present && percent === undefined) return
    if (!present && problem !== undefined) throw new Error(problem)
    const group = present ?? { ...own!, folder: join(own!.folder, prefix + id) }
    if (!present) await makeGroup(own!, group.folder)
    const { file, format } = quotas[group.version]
    await writeFile(join(group.folder, file), format(percent === undefined ? undefined : (percent * period) / 100))
    if (!present) await writeFile(join(group.folder, 'cgroup.procs'), String(pid))
  }
  return {
    problem,
    async limit(id, pid, percent) {
      try {
        await limitProcess(id, pid, percent)
      } catch (error) {
        throw createCpuLimitError(messageOf(error))
      }
    },
    async remove(id) {
      if (own) await removeGroup(join(own.folder, prefix + id))
    },
    async reconcile(ids) {
      if (!own) return
      const known = new Set(ids.map(id => prefix + id))
      const names = await readdir(own.folder).catch(() => [])
      for (const name of names)
        if (name.startsWith(prefix) && !known.has(name)) await removeGroup(join(own.folder, name))
    },
  }
}
