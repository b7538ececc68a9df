import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { forkInKilledService, forkTo, removeForks, startCounting } from '../../support/drivers/fork-bench.ts'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { imageLayers } from '../../support/disks/qcow2-disk.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { rounds } from '../../support/rounds.ts'
import { until } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'forks on QEMU', () => {
  /** The processes that work in a folder of a machine of this bench. */
  const listProcesses = ({ folder }: QemuBench): readonly string[] =>
    readdirSync('/proc').filter(pid => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(join(folder, 'machines/'))
      } catch {
        return false
      }
    })
  /** Expects that there is the source alone, which runs on. */
  const expectNothingLeft = async (bench: QemuBench, source: MachineView): Promise<void> => {
    expect((await bench.driver.list()).map(({ name }) => name)).toEqual(['source'])
    await bench.waitForView(source.id, { state: 'running' })
    const tick = await bench.nextTick(source.id)
    expect(await bench.nextTick(source.id)).toBeGreaterThan(tick)
    expect(readdirSync(join(bench.folder, 'machines'))).toEqual([source.id])
    await until(() => expect(listProcesses(bench)).toHaveLength(1))
    const journal = join(bench.folder, 'forks/machines')
    expect(existsSync(journal) ? readdirSync(journal) : []).toEqual([])
  }

  /** Expects both forks, which are deleted, or none. */
  const expectAllOrNone = async (bench: QemuBench, source: MachineView): Promise<void> => {
    const { length } = await bench.driver.list()
    expect(length).toBeOneOf([1, 3])
    if (length === 3) await removeForks(bench)
    await expectNothingLeft(bench, source)
  }

  test('a disk has at most four images, and its folder no image that nobody needs', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    const listBases = (): readonly string[] => readdirSync(source.home).filter(name => name.startsWith('base-'))
    const disk = join(source.home, 'disk0.qcow2')
    const kept: string[] = []
    for (let at = 1; at <= rounds(16, 300); at += 1) {
      const { forks } = await forkTo(bench, source.id, [`fork-${at}`])
      expect(await imageLayers(disk)).toBeLessThanOrEqual(4)
      if (at <= 3) kept.push(forks[0]!.id)
      else {
        await bench.run(forks[0]!.id, 'stop', { force: true })
        await bench.driver.remove(forks[0]!.id)
      }
    }
    // Unused images are deleted when layers are merged, so there are those of a few forks.
    expect(listBases().length).toBeLessThanOrEqual(12)
    for (const id of kept) {
      expect(await bench.nextTick(id)).toBeGreaterThan(1)
      await bench.run(id, 'stop', { force: true })
      await bench.run(id, 'start')
      expect(await bench.nextTick(id)).toBeGreaterThan(0)
      await bench.run(id, 'stop', { force: true })
      await bench.driver.remove(id)
    }
    await bench.nextTick(source.id)
    await bench.run(source.id, 'stop', { force: true })
    expect(await imageLayers(disk)).toBeLessThanOrEqual(4)
    await bench.run(source.id, 'start')
    expect(listBases().length).toBeLessThanOrEqual(1)
    await bench.nextTick(source.id)
  })

  const waitForReady = (bench: QemuBench, id: string): Promise<void> => bench.waitForView(id, { forkReady: true })

  test('a process waits for the next fork, and ends with the machine and with the service', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    /** The processes that wait for a fork. */
    const listWaiting = async (): Promise<readonly string[]> => {
      const views = await bench.driver.list()
      const homes = new Set(views.map(({ home }) => home))
      return listProcesses(bench).filter(pid => !homes.has(readlinkSync(`/proc/${pid}/cwd`)))
    }
    await forkTo(bench, source.id, ['one'])
    await waitForReady(bench, source.id)
    const [waiting, ...others] = await listWaiting()
    expect(others).toEqual([])
    const { forks } = await forkTo(bench, source.id, ['two', 'three'])
    expect(await Promise.all(forks.map(({ id }) => bench.pid(id)))).toContain(Number(waiting))
    expect(forks).toMatchObject([{ name: 'two' }, { name: 'three' }])
    for (const { id } of forks) expect(await bench.nextTick(id)).toBeGreaterThan(1)

    // What waits has the disks of before.
    await waitForReady(bench, source.id)
    const stale = (await listWaiting())[0]
    const snapshot = { id: crypto.randomUUID(), name: 'now', description: '', withMemory: false }
    await bench.driver.snapshots!.create(source.id, snapshot, AbortSignal.timeout(60_000))
    const [four] = (await forkTo(bench, source.id, ['four'])).forks
    expect(await bench.pid(four!.id)).not.toBe(Number(stale))
    expect(await bench.nextTick(four!.id)).toBeGreaterThan(1)

    await waitForReady(bench, source.id)
    process.kill(Number((await listWaiting())[0]), 'SIGKILL')
    await until(async () => expect((await bench.get(source.id)).forkReady).toBeUndefined())
    await forkTo(bench, source.id, ['five'])
    await waitForReady(bench, source.id)
    await bench.run(source.id, 'stop', { force: true })
    await until(async () => expect(await listWaiting()).toEqual([]))
    expect((await bench.get(source.id)).forkReady).toBeUndefined()

    await bench.run(source.id, 'start')
    await bench.nextTick(source.id)
    await forkTo(bench, source.id, ['six'])
    await waitForReady(bench, source.id)
    const views = await bench.driver.list()
    await bench.close()
    expect(listProcesses(bench)).toHaveLength(views.length)
    expect(readdirSync(join(bench.folder, 'machines'))).toHaveLength(views.length)
    await bench.open()
    expect(await bench.driver.list()).toHaveLength(views.length)
  })

  test('at most four machines have a process that waits: those that forked last', async () => {
    await using bench = await openQemuBench()
    const sources: MachineView[] = []
    for (let at = 0; at < 5; at += 1) {
      const source = await startCounting(bench, `source-${at}`)
      sources.push(source)
      const { forks } = await forkTo(bench, source.id, [`fork-${at}`])
      await waitForReady(bench, source.id)
      await bench.run(forks[0]!.id, 'stop', { force: true })
    }
    const ready = await Promise.all(sources.map(async ({ id }) => (await bench.get(id)).forkReady ?? false))
    expect(ready).toEqual([false, true, true, true, true])
    await until(() => expect(listProcesses(bench)).toHaveLength(5 + 4))
  })

  test('a call that is cancelled leaves nothing, and the machine goes on', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    const reason = new Error('the caller has changed their mind')
    await expect(forkTo(bench, source.id, ['one'], AbortSignal.abort(reason))).rejects.toBe(reason)
    await expectNothingLeft(bench, source)
    const cancelled = new AbortController()
    const forking = forkTo(bench, source.id, ['one', 'two'], cancelled.signal)
    await until(() => expect(readdirSync(join(bench.folder, 'machines')).length).toBeGreaterThan(1), 1)
    cancelled.abort(reason)
    await expect(forking).rejects.toBeInstanceOf(Error)
    await expectNothingLeft(bench, source)
    expect((await forkTo(bench, source.id, ['one'])).forks).toMatchObject([{ state: 'running' }])
  })

  test('a service that is killed while it forks a snapshot leaves nothing', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    const snapshot = crypto.randomUUID()
    const wanted = { id: snapshot, name: 'kept', description: '', withMemory: true }
    await bench.driver.snapshots!.create(source.id, wanted, AbortSignal.timeout(60_000))
    await bench.close()
    const { steps } = await forkInKilledService(bench, source.id, Infinity, snapshot)
    expect(steps).toBeGreaterThan(20)
    await bench.open()
    await removeForks(bench)
    const count = rounds(3, 50)
    for (let at = 0; at < count; at += 1) {
      await bench.close()
      await forkInKilledService(bench, source.id, Math.floor((steps * (at + 0.5)) / count), snapshot)
      await bench.open()
      await expectAllOrNone(bench, source)
    }
    const forks = [{ name: 'one' }, { name: 'two' }]
    const made = await bench.driver.forks!.forkSnapshot(source.id, snapshot, forks, AbortSignal.timeout(60_000))
    for (const { id } of made.forks) expect(await bench.nextTick(id)).toBeGreaterThan(1)
  })

  test('a service that is killed while it forks leaves nothing, and the machine goes on', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    const forkUntil = (step: number) => forkInKilledService(bench, source.id, step)
    const disk = join(source.home, 'disk0.qcow2')
    /** Forks until the next fork has layers to merge, so that it takes all steps that there are. */
    const fillLayers = async (): Promise<void> => {
      while ((await imageLayers(disk)) < 4) await forkTo(bench, source.id, ['one'])
      await removeForks(bench)
      await bench.close()
    }
    await fillLayers()
    const { steps } = await forkUntil(Infinity)
    expect(steps).toBeGreaterThan(20)
    await bench.open()
    await removeForks(bench)
    const count = rounds(4, 100)
    for (let at = 0; at < count; at += 1) {
      await fillLayers()
      const step = Math.floor((steps * (at + 0.5)) / count)
      const { signal } = await forkUntil(step)
      await bench.open()
      // A step is also a look at what QEMU does, so a fork that QEMU does fast has fewer of them.
      if (signal === null) expect(step).toBeGreaterThan(steps / 2)
      await expectAllOrNone(bench, source)
    }
    const { forks } = await forkTo(bench, source.id, ['one', 'two'])
    for (const { id } of forks) expect(await bench.nextTick(id)).toBeGreaterThan(1)
    await removeForks(bench)
    await bench.run(source.id, 'stop', { force: true })
    expect(await imageLayers(disk)).toBeLessThanOrEqual(4)
    expect(await runProcess('qemu-img', ['check', '-q', disk], { timeout: 60_000 })).toMatchObject({ code: 0 })
  })
})
