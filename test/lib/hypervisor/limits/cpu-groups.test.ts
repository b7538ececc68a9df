import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CpuGroups, openCpuGroups } from '#lib/hypervisor/qemu/cgroup/cpu-groups.ts'
import { assertLimits } from '#lib/hypervisor/qemu/hardware/limits.ts'

/** A folder with the files of version 2 that a service sees in a unit of systemd with Delegate=cpu. */
describe('the control groups of version 2', () => {
  const [id, pid] = ['6ba7b810-9dad-41d1-80b4-00c04fd430c8', 4711]
  let folder: string
  let unit: string
  const place = async (process: string, path: string): Promise<void> => {
    await mkdir(join(folder, 'proc', process), { recursive: true })
    await writeFile(join(folder, 'proc', process, 'cgroup'), `0::${path}\n`)
  }
  const open = (): Promise<CpuGroups> => openCpuGroups('/machines', join(folder, 'proc'))
  const read = (...path: string[]): Promise<string> => readFile(join(unit, ...path), 'utf8')
  const findGroups = async (): Promise<string[]> => (await readdir(unit)).filter(name => name.startsWith('vmhost'))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-groups-'))
    unit = join(folder, 'groups/vmhost.service')
    await mkdir(unit, { recursive: true })
    await writeFile(join(unit, 'cgroup.controllers'), 'cpuset cpu io\n')
    for (const file of ['cgroup.procs', 'cgroup.subtree_control']) await writeFile(join(unit, file), '')
    await place('self', '/vmhost.service')
    await place(String(pid), '/vmhost.service')
    const mount = `30 23 0:26 / ${join(folder, 'groups')} rw - cgroup2 cgroup2 rw`
    await writeFile(join(folder, 'proc/self/mountinfo'), mount)
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('a limited machine has a threaded group, and another one has none', async () => {
    const groups = await open()
    expect(groups.problem).toBeUndefined()
    await groups.limit(id, pid, undefined)
    expect(await findGroups()).toEqual([])
    await groups.limit(id, pid, 150)
    const [group] = await findGroups()
    expect(group).toContain(id)
    expect(await read('cgroup.subtree_control')).toBe('+cpu')
    expect(await read(group!, 'cgroup.type')).toBe('threaded')
    expect(await read(group!, 'cpu.max')).toBe('150000 100000')
    expect(await read(group!, 'cgroup.procs')).toBe(String(pid))
  })

  test('a process keeps the group that an earlier service gave it, wherever that service was', async () => {
    const groups = await open()
    await groups.limit(id, pid, 10)
    const [group] = await findGroups()
    await mkdir(join(folder, 'groups/earlier', group!), { recursive: true })
    await place(String(pid), `/earlier/${group}`)
    await groups.limit(id, pid, 20)
    const path = join(folder, 'groups/earlier', group!, 'cpu.max')
    expect(await readFile(path, 'utf8')).toBe('20000 100000')
    await groups.limit(id, pid, undefined)
    expect(await readFile(path, 'utf8')).toBe('max 100000')
    expect(await read(group!, 'cpu.max')).toBe('10000 100000')
  })

  test.for([
    ['has no controller', () => writeFile(join(unit, 'cgroup.controllers'), 'memory\n'), 'no cpu controller'],
    ['is not there', () => rm(join(folder, 'proc/self/mountinfo')), 'no control groups'],
    ['may not be written', () => rm(join(unit, 'cgroup.subtree_control')), 'may not write'],
  ] as const)('a limit is refused with what to do where the group %s', async ([, spoil, reason]) => {
    await spoil()
    const groups = await open()
    const wanted = {
      fault: 'unsupported',
      message: expect.stringMatching(new RegExp(`${reason}.*Delegate=cpu`)),
    }
    expect(() => assertLimits({ limits: { cpu_percent: 5 }, networks: [] }, groups)).toThrow(
      expect.objectContaining(wanted),
    )
    await expect(groups.limit(id, pid, 5)).rejects.toMatchObject(wanted)
    await groups.limit(id, pid, undefined)
  })

  test('a group that takes no limit is told with the reason of the system', async () => {
    const groups = await open()
    await groups.limit(id, pid, 5)
    const [group] = await findGroups()
    await rm(join(unit, group!, 'cpu.max'))
    await mkdir(join(unit, group!, 'cpu.max'))
    await expect(groups.limit(id, pid, 7)).rejects.toMatchObject({ message: expect.stringContaining('EISDIR') })
  })
})
