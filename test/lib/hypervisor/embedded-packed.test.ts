import { copyFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { ExportedMachine, MachineView } from '#lib/hypervisor/driver.ts'
import type { EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { createEmbeddedBench } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { qcow2Header } from '../../support/disks/qcow2-header.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { patience } from '../../support/waiting.ts'

describe('export and import with the embedded driver', () => {
  let folder: string
  let driver: EmbeddedDriver
  let kernel: string
  const deadline = new AbortController().signal
  const exportMachine = (id: string, staging: string): Promise<ExportedMachine> =>
    driver.export(id, { staging, deadline, onProgress: () => {} })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-embedded-'))
    kernel = join(folder, 'kernel')
    await writeFile(kernel, buildQuickGuest())
    driver = createEmbeddedBench(join(folder, 'machines')).driver()
    await driver.open(() => {})
  })
  afterEach(async () => {
    for (const { id } of await driver.list())
      await driver.run(id, 'stop', { force: true, deadline: AbortSignal.timeout(patience) })
    await driver.close()
    await rm(folder, { recursive: true })
  })

  const importMachine = (
    changes: { readonly [K in keyof Definition]?: unknown },
    disk: Uint8Array,
  ): Promise<MachineView> =>
    driver.import({ id: crypto.randomUUID(), name: 'imported' }, async pack => {
      const definition = {
        id: crypto.randomUUID(),
        name: 'packed',
        cpus: 1,
        memory: 16,
        disks: [{ path: 'disk', size: 5, format: 'raw' }],
        kernel: 'guest',
        created_at: '',
        ...changes,
      }
      await writeFile(join(pack, 'machine.json'), JSON.stringify(definition))
      await writeFile(join(pack, 'disk'), disk)
      await writeFile(join(pack, 'disk too'), disk)
      await copyFile(kernel, join(pack, 'guest'))
    })
  const second = [
    { path: 'disk', size: 5, format: 'raw' },
    { path: 'disk too', size: 5, format: 'raw' },
  ]

  test.for([
    ['2 processors', { cpus: 2 }, 512, /2 processors/],
    ['too much memory', { memory: 1025 }, 512, /1025 MB/],
    ['2 disks', { disks: second }, 512, /2 disks/],
    ['no kernel', { kernel: undefined }, 512, /multiboot kernel/],
    ['a kernel that is none', { kernel: 'disk too' }, 512, /kernel\.bin is not a multiboot kernel/],
    ['a disk that is too large', {}, (64 << 20) + 512, /disk0\.img has 65 MB/],
    ['a disk of half a sector', {}, 256, /256 bytes/],
  ] as const)('an import with %s is refused by the limits of the driver', async ([, changes, size, why]) => {
    const importing = importMachine(changes, Buffer.alloc(size))
    await expect(importing).rejects.toMatchObject({ fault: 'invalid', message: expect.stringMatching(why) })
    expect(await driver.list()).toEqual([])
  })

  test('a disk declared as raw that is a qcow2 image is refused', async () => {
    await expect(importMachine({}, qcow2Header())).rejects.toMatchObject({ message: expect.stringContaining('qcow2') })
  })

  test('an imported disk has the size of its file, not the declared one', async () => {
    const { definition } = await importMachine({}, Buffer.alloc(1024))
    expect(definition.disks).toEqual([{ path: 'disk0.img', size: 1024, format: 'raw' }])
  })

  test('no other machine can use an exported disk until the export handle is disposed', async () => {
    const path = join(folder, 'shared.img')
    await writeFile(path, '')
    await truncate(path, 1 << 20)
    const wanted = { description: '', cpus: 1, memory: 16, disks: [{ path }], kernel }
    const [one, other] = [
      await driver.create({ ...wanted, name: 'one' }),
      await driver.create({ ...wanted, name: 'two' }),
    ]
    const start = (): Promise<MachineView> => driver.run(other.id, 'start', { force: false, deadline })
    using staging = newFolder()
    {
      await using exported = await exportMachine(one.id, staging.path)
      expect(exported.files.map(({ path: at }) => at)).toContain(join(staging.path, 'disk0.img'))
      await expect(start()).rejects.toMatchObject({ fault: 'conflict' })
    }
    await start()
    await expect(exportMachine(one.id, staging.path)).rejects.toMatchObject({ fault: 'conflict' })
  })

  test('a suspended machine keeps its disk after an export', async () => {
    const path = join(folder, 'shared.img')
    await writeFile(path, '')
    await truncate(path, 1 << 20)
    const wanted = { description: '', cpus: 1, memory: 16, disks: [{ path }], kernel }
    const { id } = await driver.create({ ...wanted, name: 'one' })
    const other = await driver.create({ ...wanted, name: 'two' })
    for (const verb of ['start', 'suspend'] as const) await driver.run(id, verb, { force: false, deadline })
    using staging = newFolder()
    await (await exportMachine(id, staging.path))[Symbol.asyncDispose]()
    await expect(driver.run(other.id, 'start', { force: false, deadline })).rejects.toMatchObject({ fault: 'conflict' })
    await driver.run(id, 'resume', { force: false, deadline })
  })
})
