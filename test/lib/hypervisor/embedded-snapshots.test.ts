import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { createEmbeddedBench, readSerialLog, waitForOutput } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { rounds } from '../../support/rounds.ts'
import { patience } from '../../support/waiting.ts'

describe('snapshots of the embedded driver', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: EmbeddedDriver
  let kernel: string

  const open = async (): Promise<void> => {
    driver = createEmbeddedBench(join(folder.path, 'machines')).driver()
    await driver.open(() => {})
  }
  const deadline = () => AbortSignal.timeout(patience)
  const get = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const run = (id: string, verb: Verb, force = false) => driver.run(id, verb, { force, deadline: deadline() })
  const create = (changes: Partial<NewMachine> = {}): Promise<MachineView> =>
    driver.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }], kernel, ...changes })
  const keep = async (id: string, withMemory = true): Promise<string> => {
    const snapshot = { id: crypto.randomUUID(), name: 'kept', description: '', withMemory }
    await driver.snapshots!.create(id, snapshot, deadline())
    return snapshot.id
  }
  const revert = (id: string, snapshot: string) =>
    driver.snapshots!.revert(id, snapshot, { skipResume: false, deadline: deadline() })
  const tickAfter = async (id: string): Promise<void> => {
    const view = await get(id)
    await waitForOutput(view, /^T /m, (await readSerialLog(view)).length)
  }
  const boot = async (id: string, count: number): Promise<void> => {
    const view = await get(id)
    const { length } = await readSerialLog(view)
    await run(id, 'start')
    await waitForOutput(view, new RegExp(`BOOT 0000000${count}\r\n[^]*^T `, 'm'), length)
  }
  const listFiles = async (id: string): Promise<string[]> =>
    (await readdir((await get(id)).home)).filter(name => /^snapshot-|\.new$|\.tmp$/.test(name)).toSorted()

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
    const { id } = await create({ disks: [{ path }] })
    await expect(keep(id)).rejects.toMatchObject({ fault: 'unsupported', message: expect.stringContaining(path) })
    const clone = await driver.clone(id, 'copy', { linked: false, deadline: deadline(), onProgress: () => {} })
    await keep(clone.id)
    expect((await get(clone.id)).snapshots?.snapshots).toHaveLength(1)
  })

  test('a machine without a disk, and a linked clone', async () => {
    const { id: bare } = await create({ disks: [] })
    await run(bare, 'start')
    await waitForOutput(await get(bare), /^T /m)
    const snapshot = await keep(bare)
    await run(bare, 'stop', true)
    expect(await revert(bare, snapshot)).toMatchObject({ state: 'running' })
    await tickAfter(bare)

    const { id: source } = await create({ name: 'source' })
    await boot(source, 1)
    await run(source, 'stop', true)
    const { id } = await driver.clone(source, 'linked', { linked: true, deadline: deadline(), onProgress: () => {} })
    await boot(id, 2)
    const kept = await keep(id)
    await run(id, 'stop', true)
    await boot(id, 3)
    expect(await revert(id, kept)).toMatchObject({ state: 'running', definition: { base: source } })
    await tickAfter(id)
    await run(id, 'stop', true)
    await boot(id, 3)
    // What the snapshot has does not change with its machine or the source.
    await boot(source, 2)
    await revert(id, kept)
    await tickAfter(id)
  })

  test('memory that cannot be restored is refused before anything changes', async () => {
    const { id, home } = await create()
    await boot(id, 1)
    const snapshot = await keep(id)
    const path = join(home, `snapshot-${snapshot}.state`)
    const state = await readFile(path, 'latin1')
    await writeFile(path, state.replace(/"emulator":"./, '"emulator":"x'), 'latin1')
    await expect(revert(id, snapshot)).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('another version of the emulator'),
    })
    expect(await get(id)).toMatchObject({ state: 'running', snapshots: { current: snapshot } })
    await tickAfter(id)
    await writeFile(path, state.slice(0, -1), 'latin1')
    await expect(revert(id, snapshot)).rejects.toMatchObject({ message: expect.stringContaining('truncated') })
    expect(await get(id)).toMatchObject({ state: 'suspended', problem: expect.stringContaining('truncated') })
    await writeFile(join(home, 'state.bin'), state, 'latin1')
    await run(id, 'resume')
    await tickAfter(id)
  })

  test('a damaged list of snapshots is not replaced', async () => {
    const { id, home } = await create()
    await keep(id)
    await driver.close()
    const path = join(home, 'snapshots.json')
    await writeFile(path, '{')
    await open()
    expect((await get(id)).snapshots).toBeUndefined()
    await expect(keep(id)).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining(path) })
    expect(await readFile(path, 'utf8')).toBe('{')
    expect(await listFiles(id)).toHaveLength(1)
  })

  test('a forced stop ends a snapshot, which then exists as a whole or not at all', async () => {
    const { id } = await create({ memory: 64 })
    await boot(id, 1)
    const preempt = new AbortController()
    const snapshot = { id: crypto.randomUUID(), name: 'kept', description: '', withMemory: true }
    const making = driver.snapshots!.create(id, snapshot, preempt.signal).catch(String)
    preempt.abort(new ServiceError('conflict', 'stopped by force'))
    expect(await run(id, 'stop', true)).toMatchObject({ state: 'stopped' })
    expect(await making).toContain('stopped by force')
    expect((await get(id)).state).toBe('stopped')
    await driver.close()
    await open()
    expect(await listFiles(id)).toEqual([])
    await boot(id, 2)
  })

  /** Runs a driver that is killed before this step. Returns false if it was done before. */
  const killAt = async (id: string, what: string, step: number): Promise<boolean> => {
    const program = resolve('test/support/killed-snapshot.ts')
    const machines = join(folder.path, 'machines')
    const child = spawn(process.execPath, [program, 'embedded', machines, id, what, String(step)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code, signal] = await once(child, 'exit')
    expect([code, signal]).toBeOneOf([
      [0, null],
      [null, 'SIGKILL'],
    ])
    return signal === 'SIGKILL'
  }
  const steps = (usual: readonly number[]): readonly number[] =>
    rounds(
      usual,
      Array.from({ length: 50 }, (_, step) => step),
    )

  test('a kill before a step of a snapshot: it is there as a whole, or nothing of it is', async () => {
    const { id } = await create()
    await boot(id, 1)
    for (const step of steps([0, 2])) {
      await driver.close()
      const isKilled = await killAt(id, 'create', step)
      await open()
      expect(await get(id)).toMatchObject({ state: 'stopped', problem: 'crashed' })
      const ids = ((await get(id)).snapshots?.snapshots ?? []).map(one => one.id)
      expect(await listFiles(id)).toEqual(ids.flatMap(one => [`snapshot-${one}.img`, `snapshot-${one}.state`]))
      for (const one of ids) {
        expect(await revert(id, one)).toMatchObject({ state: 'running' })
        await tickAfter(id)
      }
      if (ids.length > 0) await driver.snapshots!.delete(id, ids, deadline())
      if ((await get(id)).state === 'stopped') await run(id, 'start')
      await tickAfter(id)
      if (!isKilled) break
    }
  })

  test('a kill before a step of a revert: the machine is what it was, or what the snapshot is', async () => {
    const { id } = await create()
    await boot(id, 1)
    const snapshot = await keep(id)
    let boots = 1
    for (const step of steps([6, 9])) {
      await driver.close()
      const isKilled = await killAt(id, snapshot, step)
      await open()
      const { state, snapshots } = await get(id)
      expect(state).toBeOneOf(['stopped', 'suspended'])
      expect(snapshots).toMatchObject({ current: snapshot, snapshots: [{ id: snapshot }] })
      expect(snapshots).not.toHaveProperty('reverting')
      expect(await listFiles(id)).toEqual([`snapshot-${snapshot}.img`, `snapshot-${snapshot}.state`])
      if (state === 'suspended') {
        await run(id, 'resume')
        await tickAfter(id)
      }
      expect(await revert(id, snapshot)).toMatchObject({ state: 'running' })
      await tickAfter(id)
      await run(id, 'restart')
      boots += 1
      await waitForOutput(await get(id), new RegExp(`(BOOT 00000002[^]*){${boots - 1}}`))
      if (!isKilled) break
    }
  })
})
