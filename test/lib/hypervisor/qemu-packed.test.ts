import { copyFile, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { inspectQcow2 } from '#lib/hypervisor/qemu/qcow2.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { newFolder } from '../../support/folder.ts'
import { qcow2Header } from '../../support/disks/qcow2-header.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { patience } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'export and import with QEMU', () => {
  let folder: string
  let driver: HypervisorDriver

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
    driver = await createQemu(join(folder, 'machines'))
    await driver.open(() => {})
  })
  afterEach(async () => {
    await driver.close()
    await rm(folder, { recursive: true })
  })

  const createImage = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runProcess('qemu-img', ['create', '-q', ...args], { timeout: patience })
    if (code !== 0) throw new Error(stderr)
  }
  /** Imports a pack with one disk, which `make` creates. */
  const importMachine = (
    make: (path: string) => unknown,
    changes: { readonly [K in keyof Definition]?: unknown } = {},
    format = 'qcow2',
  ): Promise<MachineView> =>
    driver.import({ id: crypto.randomUUID(), name: 'imported' }, async pack => {
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
  const onProgress = (): void => {}
  const deadline = new AbortController().signal

  test('an imported disk has the size of its image, not the declared one', async () => {
    const { definition, home } = await importMachine(path => createImage('-f', 'qcow2', path, '3M'))
    expect(definition.disks).toEqual([{ path: 'disk0.qcow2', size: 3 << 20, format: 'qcow2' }])
    expect(await readdir(home)).toEqual(['disk0.qcow2', 'machine.json'])
  })

  test.for([
    ['has a raw backing image', ['-F', 'raw', '-b', '/etc/passwd'], /builds on another/],
    ['has a missing backing image', ['-u', '-F', 'raw', '-b', 'nothing'], /builds on another/],
    ['has an external data file', ['-o', 'data_file=DATA'], /another file/],
    ['is larger than a disk can be', ['-o', 'cluster_size=2M'], /larger/],
  ] as const)('a qcow2 image that %s is refused', async ([what, args, why]) => {
    const here = args.map(argument => argument.replace('DATA', join(folder, 'data')))
    const size = what.includes('larger') ? '65T' : '1M'
    const importing = importMachine(path => createImage('-f', 'qcow2', ...here, path, size))
    await expect(importing).rejects.toMatchObject({ fault: 'invalid', message: expect.stringMatching(why) })
    expect(await readdir(join(folder, 'machines'))).toEqual([])
  })

  test('a qcow2 image that is encrypted is refused', async () => {
    const header = qcow2Header()
    header.writeUInt32BE(2, 32)
    const importing = importMachine(path => writeFile(path, header))
    await expect(importing).rejects.toMatchObject({ message: expect.stringContaining('encrypted') })
  })

  test('a broken image is refused without a path of the host in the message', async () => {
    const header = qcow2Header()
    header.writeBigUInt64BE(7n, 40) // no place for a table
    const importing = importMachine(path => writeFile(path, header))
    await expect(importing).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(/^(?!.*machines).*disk0\.qcow2/s),
    })
  })

  test.for([
    ['backing', 'builds on another image'],
    ['dataFile', 'has its data in another file'],
  ] as const)('a header with %s is refused before any program reads the image', async ([kind, why]) => {
    const remote = 'json:{"driver":"nbd","server":{"type":"inet","host":"192.0.2.1","port":"1"}}'
    const programs = (await findQemu())!
    await driver.close()
    driver = await createQemu(join(folder, 'machines'), { programs: { ...programs, img: '/nowhere/qemu-img' } })
    const importing = importMachine(path => writeFile(path, qcow2Header({ [kind]: remote })))
    await expect(importing).rejects.toMatchObject({ fault: 'invalid', message: expect.stringContaining(why) })
  })

  test('a raw image stays raw, whatever its content, also after another export', async () => {
    const posing = qcow2Header({ backing: '/etc/passwd' })
    const { id, home, definition } = await importMachine(path => writeFile(path, posing), {}, 'raw')
    expect(definition.disks).toEqual([{ path: 'disk0.img', size: posing.length, format: 'raw' }])
    using staging = newFolder()
    await using exported = await driver.export(id, { staging: staging.path, deadline, onProgress })
    expect(exported.files).toEqual([
      { name: 'machine.json', path: join(staging.path, 'machine.json') },
      { name: 'disk0.img', path: join(home, 'disk0.img') },
    ])
    expect(await readFile(exported.files[1]!.path)).toEqual(posing)
    const copy = await driver.clone(id, 'copy', { linked: false, deadline, onProgress })
    const to = join(folder, 'copy.img')
    const args = ['convert', '-f', 'qcow2', '-O', 'raw', join(copy.home, 'disk0.qcow2'), to]
    await runProcess('qemu-img', args, { timeout: patience })
    expect(await readFile(to)).toEqual(posing)
  })

  test('an export contains kernel and initrd of the host under fixed names', async () => {
    const [kernel, initrd] = [join(folder, 'bzImage'), join(folder, 'initrd,file=x')]
    await writeFile(kernel, 'kernel')
    await writeFile(initrd, 'initrd')
    const wanted = { name: 'linux', description: '', cpus: 1, memory: 16, disks: [], kernel, initrd, cmdline: 'quiet' }
    const { id } = await driver.create(wanted)
    using staging = newFolder()
    await using exported = await driver.export(id, { staging: staging.path, deadline, onProgress })
    const names = exported.files.map(({ name }) => name)
    expect(names).toEqual(['machine.json', 'kernel.bin', 'initrd.bin'])
    const made = await driver.import({ id: crypto.randomUUID(), name: 'again' }, async pack => {
      for (const { name, path } of exported.files) await copyFile(path, join(pack, name))
    })
    expect(made.definition).toMatchObject({ kernel: 'kernel.bin', initrd: 'initrd.bin', cmdline: 'quiet' })
    expect(await readFile(join(made.home, 'initrd.bin'), 'utf8')).toBe('initrd')
  })

  test('an export that is aborted while it copies leaves no files', async () => {
    const path = join(folder, 'large.img')
    await using file = await open(path, 'wx')
    for (let at = 0; at < 64; at += 1) await file.write(Buffer.alloc(1 << 20, at + 1))
    const { id } = await driver.create({ name: 'large', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    using staging = newFolder()
    const controller = new AbortController()
    const exporting = driver.export(id, {
      staging: staging.path,
      deadline: controller.signal,
      onProgress: () => controller.abort(new Error('time is up')),
    })
    await expect(exporting).rejects.toThrow('time is up')
    expect(await readdir(staging.path)).toEqual([])
    expect((await stat(path)).size).toBe(64 << 20)
  })

  test('the export of a machine with a missing file names the file', async () => {
    const made = await importMachine(path => writeFile(path, Buffer.alloc(512)), {}, 'raw')
    await rm(join(made.home, 'disk0.img'))
    using staging = newFolder()
    await expect(driver.export(made.id, { staging: staging.path, deadline, onProgress })).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('disk0.img'),
    })
    expect(await readdir(staging.path)).toEqual([])
  })

  test('an attached image with an external data file is refused', async () => {
    const [path, data] = [join(folder, 'x.qcow2'), join(folder, 'data')]
    await createImage('-f', 'qcow2', '-o', `data_file=${data}`, path, '1M')
    const creating = driver.create({ name: 'bad', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    await expect(creating).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining('data in another file'),
    })
    await using file = await openFile(path)
    await expect(inspectQcow2(file)).rejects.toMatchObject({ fault: 'invalid' })
  })
})
