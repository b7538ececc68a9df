import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'

import { runProcess } from '#lib/platform/processes.ts'
import { newFolder } from '../../support/folder.ts'
import { freezeByHand, imageLayers, readPatterns, writePattern } from '../../support/disks/qcow2-disk.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { patience } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'the layers of linked clones', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: HypervisorDriver
  let source: MachineView

  const deadline = new AbortController().signal
  const onProgress = (): void => {}
  const open = async (): Promise<void> => {
    driver = await createQemu(join(folder.path, 'machines'))
    await driver.open(() => {})
  }
  const clone = (name: string, linked = true, from = source): Promise<MachineView> =>
    driver.clone(from.id, name, { linked, deadline, onProgress })
  const getDiskPath = ({ home }: MachineView): string => join(home, 'disk0.qcow2')
  const listBases = async ({ home }: MachineView): Promise<readonly string[]> =>
    (await readdir(home)).filter(name => name.startsWith('base-'))
  /** Reads the disk of a machine at these positions, in units of 64 KiB. */
  const read = (view: MachineView, ...places: readonly number[]): Promise<readonly number[]> =>
    readPatterns(getDiskPath(view), places)

  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runProcess('qemu-img', args, { timeout: patience })
    if (code !== 0) throw new Error(stderr)
  }

  beforeEach(async () => {
    folder = newFolder()
    await open()
    source = await driver.create({ name: 'source', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] })
    await writePattern(getDiskPath(source), 0, 1)
  })
  afterEach(async () => {
    await driver.close()
    folder[Symbol.dispose]()
  })

  test('an unchanged source is not frozen again, with existing and with deleted clones', async () => {
    const clones = []
    for (let at = 0; at < 5; at++) clones.push(await clone(`clone ${at}`))
    await driver.remove(clones[0]!.id)
    clones.push(await clone('one more'))
    expect(await listBases(source)).toHaveLength(1)
    expect(await imageLayers(getDiskPath(clones.at(-1)!))).toBe(2)
    for (const one of clones.slice(1)) expect(await read(one, 0, 1)).toEqual([1, 0])
  })

  test('each clone has the content of the source at the time of the clone', async () => {
    const clones: MachineView[] = []
    for (let at = 1; at <= 3; at++) {
      await writePattern(getDiskPath(source), at, at + 1)
      clones.push(await clone(`clone ${at}`))
    }
    await writePattern(getDiskPath(source), 0, 9)
    await writePattern(getDiskPath(clones[0]!), 5, 7)
    expect(await Promise.all(clones.map(one => read(one, 0, 1, 2, 3)))).toEqual([
      [1, 2, 0, 0],
      [1, 2, 3, 0],
      [1, 2, 3, 4],
    ])
    expect(await read(source, 0, 1, 2, 3, 5)).toEqual([9, 2, 3, 4, 0])
  })

  test('a source that is written between clones keeps at most three layers after the clones are deleted', async () => {
    for (let at = 1; at <= 12; at++) {
      await writePattern(getDiskPath(source), at, at)
      const made = await clone(`clone ${at}`)
      expect(await read(made, 0, at)).toEqual([1, at])
      expect(await imageLayers(getDiskPath(source))).toBeLessThanOrEqual(3)
      await driver.remove(made.id)
    }
    expect(await read(source, ...Array.from({ length: 13 }, (_, at) => at))).toEqual([
      1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ])
    expect((await listBases(source)).length).toBeLessThanOrEqual(2)
  })

  test('layers that a clone uses are neither merged nor deleted by later clones and deletions', async () => {
    const kept = await clone('kept')
    for (let at = 1; at <= 6; at++) {
      await writePattern(getDiskPath(source), at, at + 1)
      await driver.remove((await clone(`clone ${at}`)).id)
    }
    expect(await read(kept, 0, 1, 2)).toEqual([1, 0, 0])
    expect(await imageLayers(getDiskPath(source))).toBeLessThanOrEqual(4)
    const second = await clone('of the kept one', true, kept)
    await driver.remove(second.id)
    await driver.remove(kept.id)
    await clone('last', false)
    expect(await imageLayers(getDiskPath(source))).toBeLessThanOrEqual(2)
    expect(await read(source, 0, 1, 6)).toEqual([1, 2, 7])
  })

  test('the number of layers of a source with many existing clones is limited', async () => {
    const clones: MachineView[] = []
    for (let at = 1; at <= 12; at++) {
      await writePattern(getDiskPath(source), at, at)
      clones.push(await clone(`clone ${at}`))
      expect(await imageLayers(getDiskPath(source))).toBeLessThanOrEqual(10)
    }
    for (const [at, one] of clones.entries()) expect(await read(one, 0, at + 1, at + 2)).toEqual([1, at + 1, 0])
    for (const one of clones) await driver.remove(one.id)
    await clone('last', false)
    expect((await listBases(source)).length).toBeLessThanOrEqual(1)
  })

  test.for([
    ['start', 60],
    ['full clone', 18],
    ['linked clone', 18],
    ['export', 18],
  ] as const)('the first %s merges a long chain of an older version without losing data', async ([action, layers]) => {
    for (let at = 0; at < layers; at++) {
      await freezeByHand(source.home)
      if (at % (layers / 6) === 0) await writePattern(getDiskPath(source), 1 + at / (layers / 6), 1 + at / (layers / 6))
    }
    expect(await imageLayers(getDiskPath(source))).toBe(layers + 1)
    await driver.close()
    await open()
    if (action === 'start') {
      await driver.run(source.id, 'start', { force: false, deadline })
      await driver.run(source.id, 'stop', { force: true, deadline })
    } else if (action === 'export') {
      using staging = newFolder()
      await using _lent = await driver.export(source.id, { staging: staging.path, deadline, onProgress })
    } else await clone('one', action === 'linked clone')
    expect(await imageLayers(getDiskPath(source))).toBe(2)
    expect(await listBases(source)).toHaveLength(1)
    expect(await read(source, 0, 1, 2, 3, 4, 5, 6)).toEqual([1, 1, 2, 3, 4, 5, 6])
  })

  test.for([
    ['a file of the host', '/etc/passwd', 'raw'],
    ['a file that nobody made', 'OTHER', 'qcow2'],
    ['itself', 'ITSELF', 'qcow2'],
  ] as const)('a disk whose header names %s is refused', async ([, backing, format]) => {
    const other = join(folder.path, 'base-00000000-0000-4000-8000-000000000000.qcow2')
    await run('create', '-q', '-f', 'qcow2', other, '1M')
    const name = backing === 'OTHER' ? other : backing === 'ITSELF' ? getDiskPath(source) : backing
    await run('rebase', '-u', '-F', format, '-b', name, getDiskPath(source))
    const refused = { fault: 'conflict', message: expect.stringContaining('no base of a linked clone') }
    await expect(clone('linked')).rejects.toMatchObject(refused)
    await expect(clone('full', false)).rejects.toMatchObject(refused)
    using staging = newFolder()
    await expect(driver.export(source.id, { staging: staging.path, deadline, onProgress })).rejects.toMatchObject(
      refused,
    )
    expect(await driver.list()).toHaveLength(1)
  })

  test('an exported disk does not change while linked clones are created', async () => {
    using staging = newFolder()
    await using exported = await driver.export(source.id, { staging: staging.path, deadline, onProgress })
    const path = exported.files.find(({ name }) => name === 'disk0.qcow2')!.path
    await clone('meanwhile')
    expect(await imageLayers(path)).toBe(1)
    expect(await readPatterns(path, [0])).toEqual([1])
  })
})
