import { readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bootCount } from '#build/demo-guest/guest.ts'
import type { MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { createEmbeddedBench, waitForOutput } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { patience } from '../../support/waiting.ts'

describe('linked clones of the embedded driver', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: EmbeddedDriver
  let kernel: string

  const open = async (): Promise<void> => {
    driver = createEmbeddedBench(join(folder.path, 'machines')).driver()
    await driver.open(() => {})
  }
  const run = (id: string, verb: Verb, force = false): Promise<MachineView> =>
    driver.run(id, verb, { force, deadline: AbortSignal.timeout(patience) })
  const create = (disk: { path: string } | { size: number } = { size: 32 }): Promise<MachineView> =>
    driver.create({ name: 'source', description: '', cpus: 1, memory: 16, disks: [disk], kernel })
  const clone = ({ id }: MachineView, linked = true): Promise<MachineView> =>
    driver.clone(id, 'clone', { linked, deadline: AbortSignal.timeout(patience), onProgress: () => {} })
  const boot = async (view: MachineView, count: number): Promise<void> => {
    await run(view.id, 'start')
    await waitForOutput(view, new RegExp(`^MB BOOT 0000000${count}`, 'm'))
    await run(view.id, 'stop')
  }
  const listBases = async ({ home }: MachineView): Promise<string[]> =>
    (await readdir(home)).filter(name => name.startsWith('base'))
  const blocksOf = async (path: string): Promise<number> => (await stat(path)).blocks * 512

  beforeEach(async () => {
    folder = newFolder()
    kernel = join(folder.path, 'kernel.bin')
    await writeFile(kernel, buildQuickGuest())
    await open()
  })
  afterEach(async () => {
    for (const { id, state } of await driver.list()) if (state !== 'stopped') await run(id, 'stop', true)
    await driver.close()
    folder[Symbol.dispose]()
  })

  test('clones of the same content share one base image and store what they write', async () => {
    const source = await create()
    // Content that needs space.
    await writeFile(join(source.home, 'disk0.img'), Buffer.alloc(8 << 20, 'x'), { flag: 'r+' })
    const clones = [await clone(source), await clone(source)]
    expect(await listBases(source)).toHaveLength(1)
    for (const one of clones) {
      await boot(one, 1)
      expect(await blocksOf(join(one.home, 'disk0.overlay'))).toBeLessThan(64 * 1024)
      expect(one.definition).toMatchObject({ base: source.id, disks: [{ size: 32 << 20, format: 'raw' }] })
    }
    const full = await clone(clones[0]!, false)
    expect(full.definition).not.toHaveProperty('base')
    const content = await readFile(join(full.home, 'disk0.img'))
    expect(content.length).toBe(32 << 20)
    expect(bootCount(content)).toBe(1)
    expect(content[(8 << 20) - 1]).toBe('x'.charCodeAt(0))
  })

  test('a base image is deleted with its last clone, also under a new driver', async () => {
    const source = await create({ size: 1 })
    const early = await clone(source)
    await boot(source, 1)
    const late = await clone(source)
    expect(await listBases(source)).toHaveLength(2)
    await driver.close()
    await open()
    await driver.remove(early.id)
    expect(await listBases(source)).toEqual([late.definition.disks[0]!.backing])
    await boot(late, 2)
    await driver.remove(late.id)
    expect(await listBases(source)).toEqual([])
    expect(bootCount(await readFile(join(source.home, 'disk0.img')))).toBe(1)
  })

  test('what a killed service left of a base image is no obstacle', async () => {
    const source = await create({ size: 1 })
    await writeFile(join(source.home, 'base.new'), 'half')
    await boot(await clone(source), 1)
    expect(await listBases(source)).toHaveLength(1)
  })

  test('a suspended clone goes on under a new driver, with what it wrote', async () => {
    const source = await create({ size: 1 })
    await boot(source, 1)
    const linked = await clone(source)
    await run(linked.id, 'start')
    await waitForOutput(linked, /^MB BOOT 00000002/m)
    await run(linked.id, 'suspend')
    await boot(source, 2)
    await driver.close()
    await open()
    await run(linked.id, 'resume')
    await run(linked.id, 'restart')
    await waitForOutput(linked, /^MB BOOT 00000003/m)
  })

  test('a disk that is used in place can have linked clones, which keep what it was', async () => {
    const path = join(folder.path, 'attached.img')
    await writeFile(path, new Uint8Array(1 << 20))
    const source = await create({ path })
    const linked = await clone(source)
    await writeFile(path, new Uint8Array(1 << 20).fill(9))
    await boot(linked, 1)
  })

  test.for([
    [
      'a base image that is missing',
      async (base: string) => rename(base, `${base}.away`),
      /A file of clone cannot be used/,
    ],
    ['a base image of another size', async (base: string) => truncate(base, 1 << 19), /does not belong to its base/],
    ['an overlay that is none', async (_: string, disk: string) => truncate(disk, 0), /is damaged/],
  ] as const)('%s is told, and the clone stays stopped', async ([, sabotage, why]) => {
    const source = await create({ size: 1 })
    const linked = await clone(source)
    await sabotage(join(source.home, (await listBases(source))[0]!), join(linked.home, 'disk0.overlay'))
    await expect(run(linked.id, 'start')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringMatching(why),
    })
    expect(await driver.get(linked.id)).toMatchObject({ state: 'stopped' })
    await expect(clone(linked)).rejects.toMatchObject({ fault: 'conflict' })
  })
})
