import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, copyFile, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView, StableState } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { unfollowed } from '#lib/work.ts'
import { newFolder } from '../support/folder.ts'
import { qcow2Header } from '../support/qcow2-header.ts'

/** What the tests of the contract share. */
interface Bench {
  driver(): HypervisorDriver
  machines(): Machines
  machineIn(state: StableState, name: string): Promise<string>
  view(id: string): Promise<MachineView>
  /** The numbers of all boots that the guest has told of. */
  boots(id: string): Promise<readonly number[]>
  booted(id: string, times: number): Promise<unknown>
  /** Waits until the guest goes on with counting, and gives the number. */
  nextTick(id: string): Promise<number>
  letGo(): Promise<void>
  open(): Promise<void>
}

type Sabotage = (folder: string, change: (how: (definition: Definition) => unknown) => Promise<void>) => Promise<void>

const renamedTo =
  (name: string): Sabotage =>
  (_, change) =>
    change(definition => ({ ...definition, disks: [{ ...definition.disks[0], path: name }] }))

const diskIs =
  (make: (disk: string, outside: string) => Promise<unknown>): Sabotage =>
  async (folder, change) => {
    let disk = ''
    await change(definition => {
      disk = join(folder, definition.disks[0]!.path)
      return definition
    })
    await rename(disk, join(dirname(folder), 'outside'))
    await make(disk, join(dirname(folder), 'outside'))
  }

const qcow2: Sabotage = (_, change) =>
  change(definition => ({ ...definition, disks: [{ ...definition.disks[0], format: 'qcow2' }] }))

const both =
  (...all: readonly Sabotage[]): Sabotage =>
  async (folder, change) => {
    for (const one of all) await one(folder, change)
  }

const written =
  (text: string): Sabotage =>
  folder =>
    writeFile(join(folder, 'machine.json'), text)

/** Packs that no driver may make a machine of, and what the refusal says. */
const hostile: readonly (readonly [what: string, sabotage: Sabotage, why: RegExp])[] = [
  ['a disk that is a link out', diskIs((disk, outside) => symlink(outside, disk)), /not a plain file/],
  ['a disk that is a link to nothing', diskIs(disk => symlink('/nowhere/x', disk)), /not a plain file/],
  ['a disk with a second name outside', diskIs((disk, outside) => link(outside, disk)), /other names/],
  ['a disk that is a folder', diskIs(disk => mkdir(disk)), /not a plain file/],
  ['a disk that is a pipe', diskIs(async disk => execFileSync('mkfifo', [disk])), /not a plain file/],
  ['a disk that is missing', diskIs(async () => {}), /missing/],
  ['a disk above the folder', renamedTo('../outside'), /directly/],
  ['a disk in a folder below', renamedTo('sub/disk'), /directly/],
  ['a disk of the host', renamedTo('/etc/passwd'), /directly/],
  ['a disk called ..', renamedTo('..'), /directly/],
  ['a disk with NUL in its name', renamedTo('disk0\0.img'), /directly/],
  ['a disk that is the definition', renamedTo('machine.json'), /twice/],
  ['a kernel of the host', (_, change) => change(all => ({ ...all, kernel: '/etc/passwd' })), /directly/],
  ['an initrd that is the disk', (_, change) => change(all => ({ ...all, initrd: all.disks[0]!.path })), /twice/],
  [
    'a qcow2 disk that is none',
    both(
      qcow2,
      diskIs(disk => writeFile(disk, Buffer.alloc(1 << 16))),
    ),
    /qcow2|raw/,
  ],
  [
    'a qcow2 disk on a backing file',
    both(
      qcow2,
      diskIs(disk => writeFile(disk, qcow2Header({ backing: '/etc/passwd' }))),
    ),
    /builds on another|raw/,
  ],
  [
    'a qcow2 disk with a data file',
    both(
      qcow2,
      diskIs(disk => writeFile(disk, qcow2Header({ dataFile: '/etc/passwd' }))),
    ),
    /another file|raw/,
  ],
  ['a definition that is no JSON', written('{'), /cannot be read/],
  ['a definition of something else', written('{"id": 1}'), /cannot be read/],
  ['a definition that is too large', written(' '.repeat(65_537)), /65537 bytes/],
  ['a definition that is nested deeply', written('['.repeat(60_000)), /cannot be read/],
  ['no definition', folder => rm(join(folder, 'machine.json')), /missing/],
  [
    'a definition that is a link',
    async folder => {
      await rename(join(folder, 'machine.json'), join(dirname(folder), 'outside'))
      await symlink('../outside', join(folder, 'machine.json'))
    },
    /not a plain file/,
  ],
  ['256 processors', (_, change) => change(all => ({ ...all, cpus: 256 })), /cpus/],
  ['half a MB of memory', (_, change) => change(all => ({ ...all, memory: 0.5 })), /memory/],
  ['memory without bounds', (_, change) => change(all => ({ ...all, memory: 2 ** 40 })), /memory/],
  ['17 disks', (_, change) => change(all => ({ ...all, disks: Array(17).fill(all.disks[0]) })), /disks/],
  [
    '100 networks',
    (_, change) => change(all => ({ ...all, networks: Array.from({ length: 100 }, () => ({ mac: '' })) })),
    /networks/,
  ],
  ['a description without bounds', (_, change) => change(all => ({ ...all, description: 'x'.repeat(5000) })), /descr/],
  ['NUL for the kernel', (_, change) => change(all => ({ ...all, cmdline: 'a\0b' })), /cmdline/],
]

/** How machines leave a host as files and come to another one. */
export const packedMachines = (bench: Bench, hasGuest: boolean): void => {
  const { machineIn, view } = bench

  /** Puts the files of a machine into a folder, as a pack would bring them. */
  const pack = async (id: string, folder: string): Promise<void> => {
    using staging = newFolder()
    await mkdir(folder)
    await bench.machines().export(id, { staging: staging.path }, async ({ files }) => {
      for (const { name, path } of files) await copyFile(path, join(folder, name))
    })
    expect(await readdir(staging.path)).toEqual([])
  }
  const packed = async (state: 'stopped' | 'running', name: string) => {
    const place = newFolder()
    const id = await machineIn(state, name)
    if (state === 'running') await bench.machines().run(id, 'stop', { force: true })
    const folder = join(place.path, 'pack')
    await pack(id, folder)
    return { id, folder, [Symbol.dispose]: () => place[Symbol.dispose]() }
  }
  /** Moves the files of a pack in, whatever they are. */
  const moved =
    (folder: string) =>
    async (to: string): Promise<void> => {
      for (const name of await readdir(folder)) await rename(join(folder, name), join(to, name))
    }
  const copied =
    (folder: string) =>
    async (to: string): Promise<void> => {
      for (const name of await readdir(folder)) await copyFile(join(folder, name), join(to, name))
    }
  const change =
    (folder: string) =>
    async (how: (definition: Definition) => unknown): Promise<void> => {
      const file = join(folder, 'machine.json')
      await writeFile(file, JSON.stringify(how(JSON.parse(await readFile(file, 'utf8')) as Definition)))
    }
  /** All that lies where machines lie. */
  const everything = async (id: string): Promise<readonly string[]> =>
    (await readdir(dirname((await view(id)).home), { recursive: true })).toSorted()

  test('what was exported is adopted as a machine of its own, beside its source', async () => {
    using source = await packed(hasGuest ? 'running' : 'stopped', 'source')
    const before = await everything(source.id)
    const made = await bench.machines().adopt({ name: 'adopted' }, copied(source.folder))
    const [old, now] = [await view(source.id), await view(made.id)]
    expect(made).toEqual({ id: now.id, name: 'adopted', home: now.home })
    expect(now).toMatchObject({ name: 'adopted', state: 'stopped', definition: { id: made.id, name: 'adopted' } })
    expect(now.id).not.toBe(old.id)
    const macs = (one: MachineView): readonly string[] => one.definition.networks.map(({ mac }) => mac)
    expect(macs(now)).toHaveLength(macs(old).length)
    for (const mac of macs(now)) expect(macs(old)).not.toContain(mac)
    const { cpus, memory } = old.definition
    expect(now.definition).toMatchObject({ cpus, memory })
    expect(bench.machines().show('ADOPTED').ID).toBe(made.id)
    const own = (await everything(source.id)).filter(name => !name.startsWith(made.id))
    expect(own).toEqual(before)
    if (!hasGuest) return
    for (const id of [made.id, source.id]) {
      await bench.machines().run(id, 'start')
      await bench.booted(id, id === made.id ? 1 : 2)
    }
    expect(await bench.boots(made.id)).toEqual([2])
    expect(await bench.boots(source.id)).toEqual([1, 2])
  })

  test('a linked clone, and the machine that it builds on, are exported complete in themselves', async () => {
    if (!bench.driver().features.linkedClone) return
    const attached = await machineIn('stopped', 'attached')
    const source = await bench.machines().clone(attached, 'source', { linked: false })
    if (hasGuest) {
      await bench.machines().run(source, 'start')
      await bench.booted(source, 1)
      await bench.machines().run(source, 'stop', { force: true })
    }
    const linked = await bench.machines().clone(source, 'linked', { linked: true })
    using place = newFolder()
    await pack(source, join(place.path, 'source'))
    await pack(linked, join(place.path, 'linked'))
    for (const id of [linked, source, attached]) await bench.machines().remove(id, { force: false })
    for (const name of ['source', 'linked']) {
      const { id } = await bench.machines().adopt({ name }, copied(join(place.path, name)))
      expect((await view(id)).definition.base).toBeUndefined()
      if (!hasGuest) continue
      await bench.machines().run(id, 'start')
      await bench.booted(id, 1)
      expect(await bench.boots(id)).toEqual([2])
    }
  })

  test.for(hostile)('%s: refused, and nothing stays', async ([, sabotage, why]) => {
    using source = await packed('stopped', 'source')
    const before = await everything(source.id)
    await sabotage(source.folder, change(source.folder))
    const outside = join(dirname(source.folder), 'outside')
    await chmod(outside, 0o644).catch(() => {})
    const adopting = bench.machines().adopt({ name: 'bad' }, moved(source.folder))
    await expect(adopting).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(new RegExp(`of this pack: .*(${why.source})`, 's')),
    })
    expect(await everything(source.id)).toEqual(before)
    expect(await bench.driver().list()).toHaveLength(1)
    const mode = await stat(outside).then(
      found => found.mode & 0o777,
      () => 0o644,
    )
    expect(mode).toBe(0o644)
  })

  test('a pack can bring nothing but what its definition names, under no name that means something', async () => {
    using source = await packed('stopped', 'source')
    const { folder } = source
    await change(folder)(definition => ({
      ...definition,
      base: definition.id,
      disks: [{ ...definition.disks[0], path: 'run.json' }],
    }))
    const disk = (await view(source.id)).definition.disks[0]!
    await rename(
      join(
        folder,
        (await readdir(folder)).find(name => name.startsWith('disk'))!,
      ),
      join(folder, 'run.json'),
    )
    await chmod(join(folder, 'run.json'), 0o777)
    const state = JSON.stringify({ state: 'suspended', since: 1, ranFor: 1 })
    for (const name of ['op.json', 'state.mem', 'state.mem.full', 'state.bin', 'serial.log', '.vmhost-x'])
      await writeFile(join(folder, name), state)
    await mkdir(join(folder, 'run', 'deep'), { recursive: true })
    await writeFile(join(folder, 'run', 'pid'), '1')
    await symlink('/', join(folder, 'root'))
    const { id, home } = await bench.machines().adopt({ name: 'adopted' }, moved(folder))
    const there = async (): Promise<readonly string[]> => (await readdir(home, { recursive: true })).toSorted()
    const made = await view(id)
    const { kernel, disks, base } = made.definition
    expect(base).toBeUndefined()
    expect(disks).toMatchObject([{ path: expect.stringMatching(/^disk0\./) }])
    if (hasGuest) expect(disks[0]!.size).toBe(disk.size)
    const wanted = [disks[0]!.path, ...(kernel === undefined ? [] : [kernel]), 'machine.json'].toSorted()
    expect(await there()).toEqual(wanted)
    for (const name of wanted) expect((await stat(join(home, name))).mode & 0o777).toBe(0o600)
    await bench.letGo()
    await bench.open()
    expect(await view(id)).toMatchObject({ id, state: 'stopped', definition: made.definition })
    expect(await there()).toEqual(wanted)
  })

  test('a name in use is refused before anything is filled; a name is free again after a refusal', async () => {
    using source = await packed('stopped', 'source')
    let filled = 0
    const adopt = (name: string): Promise<unknown> =>
      bench.machines().adopt({ name }, async () => {
        filled += 1
        await expect(bench.machines().adopt({ name: 'Twice' }, async () => {})).rejects.toMatchObject({
          fault: 'conflict',
        })
        throw new Error('the pack broke off')
      })
    await expect(adopt('SOURCE')).rejects.toMatchObject({ fault: 'conflict' })
    expect(filled).toBe(0)
    await expect(adopt('twice')).rejects.toThrow('the pack broke off')
    await bench.machines().adopt({ name: 'twice' }, copied(source.folder))
  })

  test('who gives up an adoption leaves nothing behind', async () => {
    using source = await packed('stopped', 'source')
    const before = await everything(source.id)
    const controller = new AbortController()
    const work = { ...unfollowed, signal: controller.signal }
    const adopting = bench.machines().adopt({ name: 'late', work }, async folder => {
      await copied(source.folder)(folder)
      controller.abort(new Error('not wanted any more'))
    })
    await expect(adopting).rejects.toThrow('not wanted any more')
    expect(await everything(source.id)).toEqual(before)
    expect(await bench.driver().list()).toHaveLength(1)
  })

  test('an adoption that comes again after a kill finds the machine that it had made, and its name', async () => {
    using source = await packed('stopped', 'source')
    const work = { ...unfollowed, id: crypto.randomUUID() }
    const made = await bench.machines().adopt({ name: 'adopted', work }, copied(source.folder))
    expect(made.id).toBe(work.id)
    await bench.letGo()
    await bench.open()
    bench.machines().checkName('Adopted', work.id)
    expect(() => bench.machines().checkName('Adopted')).toThrow('exists already')
    const again = bench.machines().adopt({ name: 'adopted', work }, async () => {
      throw new Error('it is filled again')
    })
    expect(await again).toEqual(made)
    expect(await bench.driver().list()).toHaveLength(2)
  })

  test('what is lent twice is the same, with the times of files that were copied', async () => {
    const id = await machineIn('stopped', 'source')
    const lend = async (): Promise<readonly unknown[]> => {
      using staging = newFolder()
      return await bench.machines().export(id, { staging: staging.path }, async ({ files }) =>
        Promise.all(
          files.map(async ({ name, path }) => {
            const { size, mtimeMs } = await stat(path)
            return [
              name,
              size,
              Math.round(mtimeMs),
              createHash('sha256')
                .update(await readFile(path))
                .digest('hex'),
            ]
          }),
        ),
      )
    }
    const first = await lend()
    // Longer than the times of files are exact.
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(await lend()).toEqual(first)
    await bench.letGo()
    await bench.open()
    expect(await lend()).toEqual(first)
  })

  test('while a machine is lent nothing else happens to it, unless by force', async () => {
    const id = await machineIn('stopped', 'lent')
    using staging = newFolder()
    const lent = bench.machines().export(id, { staging: staging.path }, async (machine, signal) => {
      expect(machine).toMatchObject({ id, name: 'lent', type: bench.driver().kind })
      expect(bench.machines().status(id).status).toBe('cloning')
      await expect(bench.machines().run(id, 'start')).rejects.toMatchObject({ fault: 'conflict' })
      await expect(bench.machines().remove(id, { force: false })).rejects.toMatchObject({ fault: 'conflict' })
      const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      const forced = bench.machines().run(id, 'stop', { force: true })
      await aborted.finally(() => void forced)
    })
    await expect(lent).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('by force') })
    await expect.poll(() => bench.machines().status(id).status).toBe('stopped')
    expect(await readdir(staging.path)).toEqual([])
    expect(
      await bench
        .machines()
        .export(id, { staging: staging.path }, async ({ files }) =>
          files.map(({ name }) => name).includes('machine.json'),
        ),
    ).toBe(true)
  })

  test.for(['running', 'suspended'] as const)('a machine that is %s must be stopped to be exported', async state => {
    const id = await machineIn(state, 'awake')
    using staging = newFolder()
    const lent = bench.machines().export(id, { staging: staging.path }, async () => {})
    await expect(lent).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('stop it') })
    await expect(lent).rejects.toMatchObject({ message: expect.stringContaining('ask for `suspend`') })
  })

  test('a machine that runs is lent suspended, and goes on where it was; its copy boots from the disk of then', async () => {
    const id = await machineIn('running', 'awake')
    if (hasGuest) await bench.booted(id, 1)
    const before = hasGuest ? await bench.nextTick(id) : 0
    using place = newFolder()
    using staging = newFolder()
    const folder = join(place.path, 'pack')
    await mkdir(folder)
    const how = { staging: staging.path, suspend: true }
    await bench.machines().export(id, how, async ({ files }) => {
      expect(await view(id)).toMatchObject({ state: 'suspended' })
      expect(bench.machines().status(id).status).toBe('cloning')
      for (const verb of ['start', 'resume', 'stop'] as const)
        await expect(bench.machines().run(id, verb)).rejects.toMatchObject({ fault: 'conflict' })
      await expect(bench.machines().remove(id, { force: false })).rejects.toMatchObject({ fault: 'conflict' })
      await expect(bench.machines().export(id, how, async () => {})).rejects.toMatchObject({ fault: 'conflict' })
      for (const { name, path } of files) await copyFile(path, join(folder, name))
    })
    expect(await view(id)).toMatchObject({ state: 'running' })
    expect(bench.machines().status(id).status).toBe('running')
    expect((await readdir(folder)).filter(name => name.startsWith('state'))).toEqual([])
    const { id: copy } = await bench.machines().adopt({ name: 'copy' }, copied(folder))
    if (!hasGuest) return
    expect(await bench.nextTick(id)).toBeGreaterThan(before)
    await bench.machines().run(copy, 'start')
    await bench.booted(copy, 1)
    expect(await bench.boots(copy)).toEqual([2])
    expect(await bench.boots(id)).toEqual([1])
  })

  test('a machine that was lent suspended also goes on when that fails, or is given up', async () => {
    const id = await machineIn('running', 'awake')
    using staging = newFolder()
    const how = { staging: staging.path, suspend: true }
    const failing = bench.machines().export(id, how, async () => {
      throw new Error('the pack broke off')
    })
    await expect(failing).rejects.toThrow('the pack broke off')
    expect(await view(id)).toMatchObject({ state: 'running' })
    const controller = new AbortController()
    const work = { ...unfollowed, signal: controller.signal }
    const given = bench.machines().export(id, { ...how, work }, async (_, signal) => {
      controller.abort(new Error('not wanted any more'))
      signal.throwIfAborted()
    })
    await expect(given).rejects.toThrow('not wanted any more')
    expect(await view(id)).toMatchObject({ state: 'running' })
    expect(await readdir(staging.path)).toEqual([])
    if (hasGuest) await bench.nextTick(id)
  })

  test('a forced stop ends that too, and the machine is stopped', async () => {
    const id = await machineIn('running', 'awake')
    using staging = newFolder()
    const stopped = Promise.withResolvers<unknown>()
    const lent = bench.machines().export(id, { staging: staging.path, suspend: true }, async (_, signal) => {
      const aborted = new Promise((__, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
      stopped.resolve(bench.machines().run(id, 'stop', { force: true }))
      await aborted
    })
    await expect(lent).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('by force') })
    await stopped.promise
    expect(await view(id)).toMatchObject({ state: 'stopped' })
  })

  test('of a suspended machine the disks can be lent; it stays so, keeps its disk and can be resumed', async () => {
    const id = await machineIn('suspended', 'asleep')
    using staging = newFolder()
    const names = await bench
      .machines()
      .export(id, { staging: staging.path, suspend: true }, async ({ files }) => files.map(({ name }) => name))
    expect(names).toContain('machine.json')
    expect(await view(id)).toMatchObject({ state: 'suspended' })
    await bench.machines().run(id, 'resume')
    if (hasGuest) await bench.nextTick(id)
  })

  describe.skipIf(!hasGuest)('on disk', () => {
    test('what a process left that was killed while it adopted is gone at the next start', async () => {
      using source = await packed('stopped', 'source')
      const before = await everything(source.id)
      const { promise: inside, resolve } = Promise.withResolvers<void>()
      void bench.machines().adopt({ name: 'cut' }, async folder => {
        await copied(source.folder)(folder)
        resolve()
        await new Promise(() => {})
      })
      await inside
      expect((await everything(source.id)).some(name => name.startsWith('.new-'))).toBe(true)
      await bench.letGo()
      await bench.open()
      expect(await everything(source.id)).toEqual(before)
      expect(await bench.driver().list()).toHaveLength(1)
    })
  })
}
