import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, copyFile, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView, StableState } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { noProgress } from '#lib/async/progress.ts'
import { withExport } from '../support/exports.ts'
import { newFolder } from '../support/folder.ts'
import { qcow2Header } from '../support/disks/qcow2-header.ts'
import { pause } from '../support/waiting.ts'

/** What the contract suite provides to these tests. */
interface Bench {
  driver(): HypervisorDriver
  machines(): Machines
  machineIn(state: StableState, name: string): Promise<string>
  view(id: string): Promise<MachineView>
  /** Returns the numbers of all boots that the guest has printed. */
  boots(id: string): Promise<readonly number[]>
  booted(id: string, times: number): Promise<unknown>
  /** Waits for the guest's next tick and returns its number. */
  nextTick(id: string): Promise<number>
  closeMachines(): Promise<void>
  open(): Promise<void>
}

type Sabotage = (
  folder: string,
  changeDefinition: (how: (definition: Definition) => unknown) => Promise<void>,
) => Promise<void>

const renameDiskTo =
  (name: string): Sabotage =>
  (_, changeDefinition) =>
    changeDefinition(definition => ({ ...definition, disks: [{ ...definition.disks[0], path: name }] }))

const replaceDisk =
  (make: (disk: string, outside: string) => Promise<unknown>): Sabotage =>
  async (folder, changeDefinition) => {
    let disk = ''
    await changeDefinition(definition => {
      disk = join(folder, definition.disks[0]!.path)
      return definition
    })
    await rename(disk, join(dirname(folder), 'outside'))
    await make(disk, join(dirname(folder), 'outside'))
  }

const qcow2: Sabotage = (_, changeDefinition) =>
  changeDefinition(definition => ({ ...definition, disks: [{ ...definition.disks[0], format: 'qcow2' }] }))

const combine =
  (...all: readonly Sabotage[]): Sabotage =>
  async (folder, changeDefinition) => {
    for (const one of all) await one(folder, changeDefinition)
  }

const writeDefinition =
  (text: string): Sabotage =>
  folder =>
    writeFile(join(folder, 'machine.json'), text)

/** Packs that every driver must refuse, with the reason. */
const hostile: readonly (readonly [what: string, sabotage: Sabotage, why: RegExp])[] = [
  ['a disk that is a link out', replaceDisk((disk, outside) => symlink(outside, disk)), /not a plain file/],
  ['a disk that is a link to nothing', replaceDisk(disk => symlink('/nowhere/x', disk)), /not a plain file/],
  ['a disk with a second name outside', replaceDisk((disk, outside) => link(outside, disk)), /other names/],
  ['a disk that is a folder', replaceDisk(disk => mkdir(disk)), /not a plain file/],
  ['a disk that is a pipe', replaceDisk(async disk => execFileSync('mkfifo', [disk])), /not a plain file/],
  ['a disk that is missing', replaceDisk(async () => {}), /missing/],
  ['a disk above the folder', renameDiskTo('../outside'), /directly/],
  ['a disk in a folder below', renameDiskTo('sub/disk'), /directly/],
  ['a disk of the host', renameDiskTo('/etc/passwd'), /directly/],
  ['a disk called ..', renameDiskTo('..'), /directly/],
  ['a disk with NUL in its name', renameDiskTo('disk0\0.img'), /directly/],
  ['a disk that is the definition', renameDiskTo('machine.json'), /twice/],
  [
    'a kernel of the host',
    (_, changeDefinition) => changeDefinition(all => ({ ...all, kernel: '/etc/passwd' })),
    /directly/,
  ],
  [
    'an initrd that is the disk',
    (_, changeDefinition) => changeDefinition(all => ({ ...all, initrd: all.disks[0]!.path })),
    /twice/,
  ],
  [
    'a qcow2 disk that is none',
    combine(
      qcow2,
      replaceDisk(disk => writeFile(disk, Buffer.alloc(1 << 16))),
    ),
    /qcow2|raw/,
  ],
  [
    'a qcow2 disk on a backing file',
    combine(
      qcow2,
      replaceDisk(disk => writeFile(disk, qcow2Header({ backing: '/etc/passwd' }))),
    ),
    /builds on another|raw/,
  ],
  [
    'a qcow2 disk with a data file',
    combine(
      qcow2,
      replaceDisk(disk => writeFile(disk, qcow2Header({ dataFile: '/etc/passwd' }))),
    ),
    /another file|raw/,
  ],
  ['a definition that is no JSON', writeDefinition('{'), /cannot be read/],
  ['a definition of something else', writeDefinition('{"id": 1}'), /cannot be read/],
  ['a definition that is too large', writeDefinition(' '.repeat(65_537)), /65537 bytes/],
  ['a definition that is nested deeply', writeDefinition('['.repeat(60_000)), /cannot be read/],
  ['no definition', folder => rm(join(folder, 'machine.json')), /missing/],
  [
    'a definition that is a link',
    async folder => {
      await rename(join(folder, 'machine.json'), join(dirname(folder), 'outside'))
      await symlink('../outside', join(folder, 'machine.json'))
    },
    /not a plain file/,
  ],
  ['256 processors', (_, changeDefinition) => changeDefinition(all => ({ ...all, cpus: 256 })), /cpus/],
  ['half a MB of memory', (_, changeDefinition) => changeDefinition(all => ({ ...all, memory: 0.5 })), /memory/],
  ['memory without bounds', (_, changeDefinition) => changeDefinition(all => ({ ...all, memory: 2 ** 40 })), /memory/],
  [
    '17 disks',
    (_, changeDefinition) => changeDefinition(all => ({ ...all, disks: Array(17).fill(all.disks[0]) })),
    /disks/,
  ],
  [
    '100 networks',
    (_, changeDefinition) =>
      changeDefinition(all => ({ ...all, networks: Array.from({ length: 100 }, () => ({ mac: '' })) })),
    /networks/,
  ],
  [
    'a description without bounds',
    (_, changeDefinition) => changeDefinition(all => ({ ...all, description: 'x'.repeat(5000) })),
    /descr/,
  ],
  ['NUL for the kernel', (_, changeDefinition) => changeDefinition(all => ({ ...all, cmdline: 'a\0b' })), /cmdline/],
]

/** The contract of export and import. */
export const packedMachinesContract = (bench: Bench, hasGuest: boolean): void => {
  const { machineIn, view } = bench

  /** Exports the files of a machine into a folder, as a pack would contain them. */
  const pack = async (id: string, folder: string): Promise<void> => {
    using staging = newFolder()
    await mkdir(folder)
    await withExport(bench.machines(), id, { staging: staging.path }, async ({ files }) => {
      for (const { name, path } of files) await copyFile(path, join(folder, name))
    })
    expect(await readdir(staging.path)).toEqual([])
  }
  const packMachine = async (state: 'stopped' | 'running', name: string) => {
    const parent = newFolder()
    const id = await machineIn(state, name)
    if (state === 'running') await bench.machines().run(id, 'stop', { force: true })
    const folder = join(parent.path, 'pack')
    await pack(id, folder)
    return { id, folder, [Symbol.dispose]: () => parent[Symbol.dispose]() }
  }
  /** Moves the files of a pack, of whatever type, into a folder. */
  const moveFiles =
    (folder: string) =>
    async (to: string): Promise<void> => {
      for (const name of await readdir(folder)) await rename(join(folder, name), join(to, name))
    }
  const copyFiles =
    (folder: string) =>
    async (to: string): Promise<void> => {
      for (const name of await readdir(folder)) await copyFile(join(folder, name), join(to, name))
    }
  const changeDefinition =
    (folder: string) =>
    async (how: (definition: Definition) => unknown): Promise<void> => {
      const file = join(folder, 'machine.json')
      await writeFile(file, JSON.stringify(how(JSON.parse(await readFile(file, 'utf8')) as Definition)))
    }
  /** Returns all files in the folder of the machines. */
  const listFiles = async (id: string): Promise<readonly string[]> =>
    (await readdir(dirname((await view(id)).home), { recursive: true })).toSorted()

  test('an exported machine is imported as an independent machine beside its source', async () => {
    using source = await packMachine(hasGuest ? 'running' : 'stopped', 'source')
    const before = await listFiles(source.id)
    const made = await bench.machines().import({ name: 'imported' }, copyFiles(source.folder))
    const [old, now] = [await view(source.id), await view(made.id)]
    expect(made).toEqual({ id: now.id, name: 'imported', home: now.home })
    expect(now).toMatchObject({ name: 'imported', state: 'stopped', definition: { id: made.id, name: 'imported' } })
    expect(now.id).not.toBe(old.id)
    const macs = (one: MachineView): readonly string[] => one.definition.networks.map(({ mac }) => mac)
    expect(macs(now)).toHaveLength(macs(old).length)
    for (const mac of macs(now)) expect(macs(old)).not.toContain(mac)
    const { cpus, memory } = old.definition
    expect(now.definition).toMatchObject({ cpus, memory })
    expect(bench.machines().show('IMPORTED').ID).toBe(made.id)
    const own = (await listFiles(source.id)).filter(name => !name.startsWith(made.id))
    expect(own).toEqual(before)
    if (!hasGuest) return
    for (const id of [made.id, source.id]) {
      await bench.machines().run(id, 'start')
      await bench.booted(id, id === made.id ? 1 : 2)
    }
    expect(await bench.boots(made.id)).toEqual([2])
    expect(await bench.boots(source.id)).toEqual([1, 2])
  })

  test('a machine from a pack without network modes is isolated after the import', async () => {
    using source = await packMachine('stopped', 'source')
    await changeDefinition(source.folder)(all => ({ ...all, networks: [{ mac: '52:54:00:00:00:99' }] }))
    const made = await bench.machines().import({ name: 'imported' }, copyFiles(source.folder))
    expect((await view(made.id)).definition.networks).toMatchObject([{ mode: 'isolated' }])
  })

  test('the sender of a pack decides nothing of what the machine is and reaches on this host', async () => {
    using source = await packMachine('stopped', 'source')
    const claimed = {
      networks: [{ mac: '52:54:00:00:00:99', mode: 'bridge:lan', name: 'net0' }],
      forwards: [{ protocol: 'tcp', host_address: '0.0.0.0', host_port: 8022, guest_port: 22 }],
      shared_folders: [{ name: 'etc', path: '/etc', mode: 'rw' }],
      cdroms: [{ name: 'cdrom0', path: '/etc/passwd' }],
      autostart: { enabled: true },
      owner: 'somebody',
      labels: { team: 'ops' },
      ephemeral: true,
      expires_at: '2000-01-01T00:00:00.000Z',
    }
    await changeDefinition(source.folder)(all => ({
      ...all,
      ...claimed,
      disks: all.disks.map(disk => ({ ...disk, image: 'a'.repeat(64), backing: '/etc/passwd' })),
    }))
    const { id } = await bench.machines().import({ name: 'imported' }, copyFiles(source.folder))
    const { definition } = await view(id)
    expect(definition.networks).toMatchObject([{ mode: 'isolated' }])
    for (const drive of definition.cdroms ?? []) expect(drive).not.toHaveProperty('path')
    for (const member of Object.keys(claimed).filter(name => name !== 'networks' && name !== 'cdroms'))
      expect(definition).not.toHaveProperty(member)
    for (const disk of definition.disks) {
      expect(disk).not.toHaveProperty('image')
      expect(disk).not.toHaveProperty('backing')
    }
  })

  test('a linked clone and its source are exported without references to each other', async () => {
    if (!bench.driver().features.linkedClone) return
    const attached = await machineIn('stopped', 'attached')
    const source = await bench.machines().clone(attached, 'source', { linked: false })
    if (hasGuest) {
      await bench.machines().run(source, 'start')
      await bench.booted(source, 1)
      await bench.machines().run(source, 'stop', { force: true })
    }
    const linked = await bench.machines().clone(source, 'linked', { linked: true })
    using parent = newFolder()
    await pack(source, join(parent.path, 'source'))
    await pack(linked, join(parent.path, 'linked'))
    for (const id of [linked, source, attached]) await bench.machines().remove(id, { force: false })
    for (const name of ['source', 'linked']) {
      const { id } = await bench.machines().import({ name }, copyFiles(join(parent.path, name)))
      expect((await view(id)).definition.base).toBeUndefined()
      if (!hasGuest) continue
      await bench.machines().run(id, 'start')
      await bench.booted(id, 1)
      expect(await bench.boots(id)).toEqual([2])
    }
  })

  test.for(hostile)('%s: the import is refused and leaves no files', async ([, sabotage, why]) => {
    using source = await packMachine('stopped', 'source')
    const before = await listFiles(source.id)
    await sabotage(source.folder, changeDefinition(source.folder))
    const outside = join(dirname(source.folder), 'outside')
    await chmod(outside, 0o644).catch(() => {})
    const importing = bench.machines().import({ name: 'bad' }, moveFiles(source.folder))
    await expect(importing).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(new RegExp(`of this pack: .*(${why.source})`, 's')),
    })
    expect(await listFiles(source.id)).toEqual(before)
    expect(await bench.driver().list()).toHaveLength(1)
    const mode = await stat(outside).then(
      found => found.mode & 0o777,
      () => 0o644,
    )
    expect(mode).toBe(0o644)
  })

  test('an import keeps only files that the definition names, and renames them', async () => {
    using source = await packMachine('stopped', 'source')
    const { folder } = source
    await changeDefinition(folder)(definition => ({
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
    for (const file of ['run/pid', 'qemu.pid']) await writeFile(join(folder, file), '1')
    await symlink('/', join(folder, 'root'))
    const { id, home } = await bench.machines().import({ name: 'imported' }, moveFiles(folder))
    const there = async (): Promise<readonly string[]> => (await readdir(home, { recursive: true })).toSorted()
    const made = await view(id)
    const { kernel, disks, base } = made.definition
    expect(base).toBeUndefined()
    expect(disks).toMatchObject([{ path: expect.stringMatching(/^disk0\./) }])
    if (hasGuest) expect(disks[0]!.size).toBe(disk.size)
    const wanted = [disks[0]!.path, ...(kernel === undefined ? [] : [kernel]), 'machine.json'].toSorted()
    expect(await there()).toEqual(wanted)
    for (const name of wanted) expect((await stat(join(home, name))).mode & 0o777).toBe(0o600)
    await bench.closeMachines()
    await bench.open()
    expect(await view(id)).toMatchObject({ id, state: 'stopped', definition: made.definition })
    expect(await there()).toEqual(wanted)
  })

  test('a name in use is refused before the folder is populated; a failed import frees its name', async () => {
    using source = await packMachine('stopped', 'source')
    let filled = 0
    const importNamed = (name: string): Promise<unknown> =>
      bench.machines().import({ name }, async () => {
        filled += 1
        await expect(bench.machines().import({ name: 'Twice' }, async () => {})).rejects.toMatchObject({
          fault: 'conflict',
        })
        throw new Error('the pack broke off')
      })
    await expect(importNamed('SOURCE')).rejects.toMatchObject({ fault: 'conflict' })
    expect(filled).toBe(0)
    await expect(importNamed('twice')).rejects.toThrow('the pack broke off')
    await bench.machines().import({ name: 'twice' }, copyFiles(source.folder))
  })

  test('an aborted import leaves no files', async () => {
    using source = await packMachine('stopped', 'source')
    const before = await listFiles(source.id)
    const controller = new AbortController()
    const progress = { ...noProgress, signal: controller.signal }
    const importing = bench.machines().import({ name: 'late', progress }, async folder => {
      await copyFiles(source.folder)(folder)
      controller.abort(new Error('not wanted any more'))
    })
    await expect(importing).rejects.toThrow('not wanted any more')
    expect(await listFiles(source.id)).toEqual(before)
    expect(await bench.driver().list()).toHaveLength(1)
  })

  test('an import that is repeated after a kill returns the machine it had created', async () => {
    using source = await packMachine('stopped', 'source')
    const progress = { ...noProgress, id: crypto.randomUUID() }
    const made = await bench.machines().import({ name: 'imported', progress }, copyFiles(source.folder))
    expect(made.id).toBe(progress.id)
    await bench.closeMachines()
    await bench.open()
    bench.machines().checkName('Imported', progress.id)
    expect(() => bench.machines().checkName('Imported')).toThrow('exists already')
    const again = bench.machines().import({ name: 'imported', progress }, async () => {
      throw new Error('it is populated again')
    })
    expect(await again).toEqual(made)
    expect(await bench.driver().list()).toHaveLength(2)
  })

  test('two exports of a machine yield the same files with the same times', async () => {
    const id = await machineIn('stopped', 'source')
    const digestExport = async (): Promise<readonly unknown[]> => {
      using staging = newFolder()
      return await withExport(bench.machines(), id, { staging: staging.path }, async ({ files }) =>
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
    const first = await digestExport()
    // Longer than the resolution of file times.
    await pause(20)
    expect(await digestExport()).toEqual(first)
    await bench.closeMachines()
    await bench.open()
    expect(await digestExport()).toEqual(first)
  })

  test('during an export all other operations are refused, except a forced stop', async () => {
    const id = await machineIn('stopped', 'exported')
    using staging = newFolder()
    const exporting = withExport(bench.machines(), id, { staging: staging.path }, async (machine, signal) => {
      expect(machine).toMatchObject({ id, name: 'exported', type: bench.driver().kind })
      expect(bench.machines().showStatus(id).status).toBe('cloning')
      await expect(bench.machines().run(id, 'start')).rejects.toMatchObject({ fault: 'conflict' })
      await expect(bench.machines().remove(id, { force: false })).rejects.toMatchObject({ fault: 'conflict' })
      const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      const forced = bench.machines().run(id, 'stop', { force: true })
      await aborted.finally(() => void forced)
    })
    await expect(exporting).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('by force') })
    await expect.poll(() => bench.machines().showStatus(id).status).toBe('stopped')
    expect(await readdir(staging.path)).toEqual([])
    expect(
      await withExport(bench.machines(), id, { staging: staging.path }, async ({ files }) =>
        files.map(({ name }) => name).includes('machine.json'),
      ),
    ).toBe(true)
  })

  test.for(['running', 'suspended'] as const)(
    'the export of a machine that is %s is refused and asks to stop it',
    async state => {
      const id = await machineIn(state, 'awake')
      using staging = newFolder()
      const exporting = withExport(bench.machines(), id, { staging: staging.path }, async () => {})
      await expect(exporting).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('stop it') })
      await expect(exporting).rejects.toMatchObject({ message: expect.stringContaining('ask for `suspend`') })
    },
  )

  test('a running machine is suspended for its export and then resumed; its copy boots from the exported disk', async () => {
    const id = await machineIn('running', 'awake')
    if (hasGuest) await bench.booted(id, 1)
    const before = hasGuest ? await bench.nextTick(id) : 0
    using parent = newFolder()
    using staging = newFolder()
    const folder = join(parent.path, 'pack')
    await mkdir(folder)
    const how = { staging: staging.path, suspend: true }
    await withExport(bench.machines(), id, how, async ({ files }) => {
      expect(await view(id)).toMatchObject({ state: 'suspended' })
      expect(bench.machines().showStatus(id).status).toBe('cloning')
      for (const verb of ['start', 'resume', 'stop'] as const)
        await expect(bench.machines().run(id, verb)).rejects.toMatchObject({ fault: 'conflict' })
      await expect(bench.machines().remove(id, { force: false })).rejects.toMatchObject({ fault: 'conflict' })
      await expect(withExport(bench.machines(), id, how, async () => {})).rejects.toMatchObject({ fault: 'conflict' })
      for (const { name, path } of files) await copyFile(path, join(folder, name))
    })
    expect(await view(id)).toMatchObject({ state: 'running' })
    expect(bench.machines().showStatus(id).status).toBe('running')
    expect((await readdir(folder)).filter(name => name.startsWith('state'))).toEqual([])
    const { id: copy } = await bench.machines().import({ name: 'copy' }, copyFiles(folder))
    if (!hasGuest) return
    expect(await bench.nextTick(id)).toBeGreaterThan(before)
    await bench.machines().run(copy, 'start')
    await bench.booted(copy, 1)
    expect(await bench.boots(copy)).toEqual([2])
    expect(await bench.boots(id)).toEqual([1])
  })

  test('a machine that was suspended for its export is also resumed after a failed or aborted export', async () => {
    const id = await machineIn('running', 'awake')
    using staging = newFolder()
    const how = { staging: staging.path, suspend: true }
    const failing = withExport(bench.machines(), id, how, async () => {
      throw new Error('the pack broke off')
    })
    await expect(failing).rejects.toThrow('the pack broke off')
    expect(await view(id)).toMatchObject({ state: 'running' })
    const controller = new AbortController()
    const progress = { ...noProgress, signal: controller.signal }
    const given = withExport(bench.machines(), id, { ...how, progress }, async (_, signal) => {
      controller.abort(new Error('not wanted any more'))
      signal.throwIfAborted()
    })
    await expect(given).rejects.toThrow('not wanted any more')
    expect(await view(id)).toMatchObject({ state: 'running' })
    expect(await readdir(staging.path)).toEqual([])
    if (hasGuest) await bench.nextTick(id)
  })

  test('a forced stop ends an export with suspend, and the machine is stopped', async () => {
    const id = await machineIn('running', 'awake')
    using staging = newFolder()
    const stopped = Promise.withResolvers<unknown>()
    const exporting = withExport(bench.machines(), id, { staging: staging.path, suspend: true }, async (_, signal) => {
      const aborted = new Promise((__, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
      stopped.resolve(bench.machines().run(id, 'stop', { force: true }))
      await aborted
    })
    await expect(exporting).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('by force') })
    await stopped.promise
    expect(await view(id)).toMatchObject({ state: 'stopped' })
  })

  test('a suspended machine can be exported; it stays suspended, keeps its disk and can be resumed', async () => {
    const id = await machineIn('suspended', 'asleep')
    using staging = newFolder()
    const names = await withExport(bench.machines(), id, { staging: staging.path, suspend: true }, async ({ files }) =>
      files.map(({ name }) => name),
    )
    expect(names).toContain('machine.json')
    expect(await view(id)).toMatchObject({ state: 'suspended' })
    await bench.machines().run(id, 'resume')
    if (hasGuest) await bench.nextTick(id)
  })

  describe.skipIf(!hasGuest)('on disk', () => {
    test('the remains of an import that was interrupted by a kill are deleted at the next start', async () => {
      using source = await packMachine('stopped', 'source')
      const before = await listFiles(source.id)
      const { promise: inside, resolve } = Promise.withResolvers<void>()
      void bench.machines().import({ name: 'cut' }, async folder => {
        await copyFiles(source.folder)(folder)
        resolve()
        await new Promise(() => {})
      })
      await inside
      expect((await listFiles(source.id)).some(name => name.startsWith('.new-'))).toBe(true)
      await bench.closeMachines()
      await bench.open()
      expect(await listFiles(source.id)).toEqual(before)
      expect(await bench.driver().list()).toHaveLength(1)
    })
  })
}
