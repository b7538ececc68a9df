import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/**
 * The control group (cgroups(7)) that limits the processor time of a process. The two versions of Linux's control groups have
 * different files.
 */
export interface Group {
  readonly version: 1 | 2
  readonly folder: string
}

interface Mount {
  readonly root: string
  readonly folder: string
  readonly type: string
  readonly options: readonly string[]
}

/** Parses a line of /proc/PID/mountinfo (proc(5)). The optional fields end with a hyphen. */
const parseMount = (line: string): Mount => {
  const [own = '', fileSystem = ''] = line.split(' - ')
  const [, , , root = '/', folder = ''] = own.split(' ')
  const [type = '', , options = ''] = fileSystem.split(' ')
  return { root, folder, type, options: options.split(',') }
}

/**
 * Finds the control group for processor time in the texts of /proc/PID/cgroup and /proc/PID/mountinfo. A container sees the path
 * of its group from the outside, and the group itself where it is mounted.
 */
export const parseGroup = (groups: string, mounts: string): Group | undefined => {
  const lines = groups.split('\n').map(line => /^\d+:([^:]*):(.*)$/.exec(line) ?? [])
  const first = lines.find(([, controllers = '']) => controllers.split(',').includes('cpu'))
  const version = first ? 1 : 2
  const path = (first ?? lines.find(([, controllers]) => controllers === ''))?.[2]
  const mount = mounts
    .split('\n')
    .map(parseMount)
    .find(({ type, options }) => (version === 1 ? type === 'cgroup' && options.includes('cpu') : type === 'cgroup2'))
  if (path === undefined || !mount) return undefined
  const { root, folder } = mount
  const isBelow = root !== '/' && (path === root || path.startsWith(`${root}/`))
  return { version, folder: resolve(folder, `.${isBelow ? path.slice(root.length) : path}`) }
}

/** Finds the control group of a process, `self` for this one. `proc` is the folder /proc. Undefined where there is none. */
export const findGroup = async (proc: string, pid: number | 'self'): Promise<Group | undefined> => {
  try {
    const [groups, mounts] = await Promise.all([
      readFile(join(proc, String(pid), 'cgroup'), 'utf8'),
      readFile(join(proc, 'self', 'mountinfo'), 'utf8'),
    ])
    return parseGroup(groups, mounts)
  } catch {
    return undefined
  }
}
