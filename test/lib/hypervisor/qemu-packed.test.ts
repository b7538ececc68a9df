import { copyFile, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { createQemuDriver } from '#lib/hypervisor/qemu/driver.ts'
import { inspectQcow2 } from '#lib/hypervisor/qemu/qcow2.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { logOf } from '#lib/platform/log.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { newFolder } from '../../support/folder.ts'
import { qcow2Header } from '../../support/qcow2-header.ts'
import { withoutQemu } from '../../support/qemu.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'packed machines on QEMU', () => {
  let folder: string
  let driver: HypervisorDriver

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
    driver = await createQemuDriver({
      folder: join(folder, 'machines'),
      programs: (await findQemu())!,
      log: logOf('test'),
    })
    await driver.open(() => {})
  })
  afterEach(async () => {
    await driver.close()
    await rm(folder, { recursive: true })
  })

  const image = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runProcess('qemu-img', ['create', '-q', ...args], { timeout: 10_000 })
    if (code !== 0) throw new Error(stderr)
  }
  /** A pack whose one disk is made by `make`. */
  const adopt = (
    make: (path: string) => unknown,
    changes: { readonly [K in keyof Definition]?: unknown } = {},
    format = 'qcow2',
  ): Promise<MachineView> =>
    driver.adopt({ id: crypto.randomUUID(), name: 'adopted' }, async pack => {
      const definition = {
        id: crypto.randomUUID(),
        name: 'packed',
        cpus: 1,
        memory: 16,
        disks: [{ path: 'disk', size: 5, format }],
        created_at: '',
        ...changes,
      }
      await writeFile(join(pack, 'machine.json'), JSON.stringify(definition))
      await make(join(pack, 'disk'))
    })
  const progress = (): void => {}
  const deadline = new AbortController().signal

  test('the size of a disk is the one that its image has', async () => {
    const { definition, home } = await adopt(path => image('-f', 'qcow2', path, '3M'))
    expect(definition.disks).toEqual([{ path: 'disk0.qcow2', size: 3 << 20, format: 'qcow2' }])
    expect(await readdir(home)).toEqual(['disk0.qcow2', 'machine.json'])
  })

  test.for([
    ['builds on a raw image', ['-F', 'raw', '-b', '/etc/passwd'], /builds on another/],
    ['builds on an image that is not there', ['-u', '-F', 'raw', '-b', 'nothing'], /builds on another/],
    ['has its data elsewhere', ['-o', 'data_file=DATA'], /another file/],
    ['is larger than a disk can be', ['-o', 'cluster_size=2M'], /larger/],
  ] as const)('a qcow2 image that %s is refused', async ([what, args, why]) => {
    const here = args.map(argument => argument.replace('DATA', join(folder, 'data')))
    const size = what.includes('larger') ? '65T' : '1M'
    const adopting = adopt(path => image('-f', 'qcow2', ...here, path, size))
    await expect(adopting).rejects.toMatchObject({ fault: 'invalid', message: expect.stringMatching(why) })
    expect(await readdir(join(folder, 'machines'))).toEqual([])
  })

  test('a qcow2 image that is encrypted is refused', async () => {
    const header = qcow2Header()
    header.writeUInt32BE(2, 32)
    const adopting = adopt(path => writeFile(path, header))
    await expect(adopting).rejects.toMatchObject({ message: expect.stringContaining('encrypted') })
  })

  test('a broken image is refused without a path of the host in the message', async () => {
    const header = qcow2Header()
    header.writeBigUInt64BE(7n, 40) // no place for a table
    const adopting = adopt(path => writeFile(path, header))
    await expect(adopting).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(/^(?!.*machines).*disk0\.qcow2/s),
    })
  })

  test.for([
    ['backing', 'builds on another image'],
    ['dataFile', 'has its data in another file'],
  ] as const)('a header that names a %s is refused before any program reads it', async ([kind, why]) => {
    const remote = 'json:{"driver":"nbd","server":{"type":"inet","host":"192.0.2.1","port":"1"}}'
    const { system } = (await findQemu())!
    await driver.close()
    driver = await createQemuDriver({
      folder: join(folder, 'machines'),
      programs: { system, img: '/nowhere/qemu-img' },
      log: logOf('test'),
    })
    const adopting = adopt(path => writeFile(path, qcow2Header({ [kind]: remote })))
    await expect(adopting).rejects.toMatchObject({ fault: 'invalid', message: expect.stringContaining(why) })
  })

  test('a raw image is raw whatever it begins with, here and after it is exported again', async () => {
    const posing = qcow2Header({ backing: '/etc/passwd' })
    const { id, home, definition } = await adopt(path => writeFile(path, posing), {}, 'raw')
    expect(definition.disks).toEqual([{ path: 'disk0.img', size: posing.length, format: 'raw' }])
    using staging = newFolder()
    await using lent = await driver.export(id, { staging: staging.path, deadline, progress })
    expect(lent.files).toEqual([
      { name: 'machine.json', path: join(staging.path, 'machine.json') },
      { name: 'disk0.img', path: join(home, 'disk0.img') },
    ])
    expect(await readFile(lent.files[1]!.path)).toEqual(posing)
    const copy = await driver.clone(id, 'copy', { linked: false, deadline, progress })
    const to = join(folder, 'copy.img')
    const args = ['convert', '-f', 'qcow2', '-O', 'raw', join(copy.home, 'disk0.qcow2'), to]
    await runProcess('qemu-img', args, { timeout: 10_000 })
    expect(await readFile(to)).toEqual(posing)
  })

  test('kernel and initrd of the host come along, under names of their own', async () => {
    const [kernel, initrd] = [join(folder, 'bzImage'), join(folder, 'initrd,file=x')]
    await writeFile(kernel, 'kernel')
    await writeFile(initrd, 'initrd')
    const wanted = { name: 'linux', description: '', cpus: 1, memory: 16, disks: [], kernel, initrd, cmdline: 'quiet' }
    const { id } = await driver.create(wanted)
    using staging = newFolder()
    await using lent = await driver.export(id, { staging: staging.path, deadline, progress })
    const names = lent.files.map(({ name }) => name)
    expect(names).toEqual(['machine.json', 'kernel.bin', 'initrd.bin'])
    const made = await driver.adopt({ id: crypto.randomUUID(), name: 'again' }, async pack => {
      for (const { name, path } of lent.files) await copyFile(path, join(pack, name))
    })
    expect(made.definition).toMatchObject({ kernel: 'kernel.bin', initrd: 'initrd.bin', cmdline: 'quiet' })
    expect(await readFile(join(made.home, 'initrd.bin'), 'utf8')).toBe('initrd')
  })

  test('an export that is given up while it copies leaves nothing', async () => {
    const path = join(folder, 'large.img')
    await using file = await open(path, 'wx')
    for (let at = 0; at < 64; at += 1) await file.write(Buffer.alloc(1 << 20, at + 1))
    const { id } = await driver.create({ name: 'large', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    using staging = newFolder()
    const controller = new AbortController()
    const exporting = driver.export(id, {
      staging: staging.path,
      deadline: controller.signal,
      progress: () => controller.abort(new Error('time is up')),
    })
    await expect(exporting).rejects.toThrow('time is up')
    expect(await readdir(staging.path)).toEqual([])
    expect((await stat(path)).size).toBe(64 << 20)
  })

  test('a machine with a file missing says which', async () => {
    const made = await adopt(path => writeFile(path, Buffer.alloc(512)), {}, 'raw')
    await rm(join(made.home, 'disk0.img'))
    using staging = newFolder()
    await expect(driver.export(made.id, { staging: staging.path, deadline, progress })).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('disk0.img'),
    })
    expect(await readdir(staging.path)).toEqual([])
  })

  test('an attached image whose data is in another file is refused', async () => {
    const [path, data] = [join(folder, 'x.qcow2'), join(folder, 'data')]
    await image('-f', 'qcow2', '-o', `data_file=${data}`, path, '1M')
    const creating = driver.create({ name: 'bad', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    await expect(creating).rejects.toMatchObject({ fault: 'invalid', message: expect.stringContaining(data) })
    await expect(inspectQcow2(path)).rejects.toMatchObject({ fault: 'invalid' })
  })
})
