import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { createEmbeddedBench, readSerialLog, waitForOutput } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { rounds } from '../../support/rounds.ts'
import { patience } from '../../support/waiting.ts'

describe('forks of the embedded driver', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: EmbeddedDriver
  let kernel: string

  const machines = (): string => join(folder.path, 'machines')
  const open = async (): Promise<void> => {
    driver = createEmbeddedBench(machines()).driver()
    await driver.open(() => {})
  }
  const deadline = () => AbortSignal.timeout(patience)
  const get = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const run = (id: string, verb: Verb, force = false) => driver.run(id, verb, { force, deadline: deadline() })
  const boot = async (changes: Partial<NewMachine> = {}): Promise<MachineView> => {
    const machine = { name: 'one', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }], kernel, ...changes }
    const { id } = await driver.create(machine)
    const view = await run(id, 'start')
    await waitForOutput(view, /^T /m)
    return view
  }
  const tickAfter = async (id: string): Promise<string> => {
    const view = await get(id)
    return waitForOutput(view, /^T /m, (await readSerialLog(view)).length)
  }
  const fork = async (id: string, ...names: string[]): Promise<readonly MachineView[]> => {
    const forks = names.map(name => ({ id: crypto.randomUUID(), name }))
    return (await driver.forks!.fork(id, forks, deadline())).forks
  }
  /** Returns what a fork leaves in the folder of its source, and the journal of forks. */
  const listLeftovers = async ({ home }: MachineView): Promise<string[]> => [
    ...(await readdir(home)).filter(name => /^fork|^base/.test(name)),
    ...(await readdir(join(folder.path, 'forks/machines')).catch(() => [])),
  ]

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

  test('a disk that others may change is refused by its name', async () => {
    const path = join(folder.path, 'disk.img')
    await writeFile(path, new Uint8Array(1 << 20))
    const { id } = await boot({ disks: [{ path }] })
    await expect(fork(id, 'two')).rejects.toMatchObject({
      fault: 'unsupported',
      message: expect.stringContaining(path),
    })
    await tickAfter(id)
  })

  test('a machine without a disk and a linked clone fork', async () => {
    const bare = await boot({ disks: [] })
    const [copy] = await fork(bare.id, 'two')
    expect(await tickAfter(copy!.id)).not.toContain('BOOT')

    const source = await boot({ name: 'source' })
    await run(source.id, 'stop', true)
    const options = { linked: true, deadline: deadline(), onProgress: () => {} }
    const { id } = await driver.clone(source.id, 'linked', options)
    await waitForOutput(await run(id, 'start'), /BOOT 00000002[^]*^T /m)
    const [child] = await fork(id, 'three')
    expect(child!.definition).toMatchObject({ base: id })
    await tickAfter(child!.id)
    await run(child!.id, 'stop', true)
    await waitForOutput(await run(child!.id, 'start'), /BOOT 00000003/)
    expect(await listLeftovers(await get(id))).toEqual([child!.definition.disks[0]!.backing])
  })

  test('if one fork cannot be made, there is none, and the machine goes on', async () => {
    const view = await boot()
    const forks = ['two', 'three'].map(name => ({ id: crypto.randomUUID(), name }))
    // The folder of the second one cannot be made.
    await mkdir(join(machines(), forks[1]!.id, 'something'), { recursive: true })
    await expect(driver.forks!.fork(view.id, forks, deadline())).rejects.toThrow(/ENOTEMPTY/)
    expect(await driver.list()).toHaveLength(1)
    expect(await readdir(machines())).toEqual([view.id])
    expect(await listLeftovers(view)).toEqual([])
    await tickAfter(view.id)
  })

  test('a kill before a step leaves all forks or none, and nothing else', async () => {
    const view = await boot()
    const usual: readonly number[] = [4, 9]
    const steps = rounds(
      usual,
      Array.from({ length: 60 }, (_, step) => step),
    )
    for (const step of steps) {
      if ((await get(view.id)).state === 'stopped') await run(view.id, 'start')
      await driver.close()
      const script = resolve('test/support/killed-fork.ts')
      const args = [script, 'embedded', machines(), view.id, String(step)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
      const [, signal] = await once(child, 'exit')
      await open()
      const others = (await driver.list()).filter(({ id }) => id !== view.id)
      expect(others.length).toBeOneOf([0, 2])
      expect((await readdir(machines())).toSorted()).toEqual([view.id, ...others.map(({ id }) => id)].toSorted())
      expect(await listLeftovers(view)).toHaveLength(others.length === 0 ? 0 : 1)
      expect(await get(view.id)).toMatchObject({ state: 'stopped', problem: 'crashed' })
      for (const { id } of others) {
        await waitForOutput(await run(id, 'start'), /BOOT /)
        await run(id, 'stop', true)
        await driver.remove(id)
      }
      expect(await listLeftovers(view)).toEqual([])
      if (signal === null) break
    }
  })
})
