import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Verb } from '#lib/hypervisor/driver.ts'
import { createEmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { anyFile } from '../../support/host-files.ts'
import { embeddedParts } from '../../support/program-parts.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { patience, until } from '../../support/waiting.ts'
import { changeMachine } from '../../support/drivers/change-machine.ts'

const left = withoutQemu ? 'QEMU is not installed' : canMount ? undefined : 'this user may not mount a file system'
const usual = { hostFiles: anyFile, serialLogSize: 1 << 20, log: getAreaLogger('test') }

describe.skipIf(left !== undefined)(left ?? 'a QEMU machine on a full disk', () => {
  test('is ended by force and goes on after a pause; what has to be noted is refused, and done when there is room', async () => {
    using disk = newSmallDisk(16)
    await using bench = await openQemuBench({ folder: disk.path })
    const { id } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.nextTick(id)
    await bench.run(id, 'pause')
    disk.fill()
    expect(await bench.run(id, 'resume')).toMatchObject({ state: 'running' })
    for (const verb of ['pause', 'suspend', 'reset'] as const)
      await expect(bench.run(id, verb)).rejects.toMatchObject({ fault: 'no-space' })
    expect(await bench.get(id)).toMatchObject({ state: 'running' })
    const pid = await bench.pid(id)
    expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    await until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
    // What that has set free.
    disk.fill()
    await expect(bench.run(id, 'start')).rejects.toMatchObject({ fault: 'no-space' })
    await bench.close()
    await bench.open()
    expect(await bench.get(id)).toMatchObject({ state: 'stopped' })
    expect((await bench.get(id)).problem).toBeUndefined()
    disk.empty()
    await bench.run(id, 'start')
    await bench.nextTick(id)
  })

  test('goes on where its memory finds no room, and the caller is told that', async () => {
    using disk = newSmallDisk(8)
    await using bench = await openQemuBench({ folder: disk.path })
    const { id } = await bench.create('one', 256)
    await bench.run(id, 'start')
    await bench.nextTick(id)
    disk.fill(2 ** 17)
    await expect(bench.run(id, 'suspend')).rejects.toMatchObject({ fault: 'no-space' })
    expect(await bench.get(id)).toMatchObject({ state: 'running' })
    expect(await bench.listSavedMemory(id)).toEqual([])
    await bench.nextTick(id)
  })

  test('refuses what has to be written, does the rest, and is what it says, also after a restart of the service', async () => {
    using disk = newSmallDisk(48)
    await using bench = await openQemuBench({ folder: disk.path })
    const { id } = await bench.driver.createDemo()
    const how = { deadline: AbortSignal.timeout(120_000), onProgress: () => {} }
    const clone = (linked: boolean) => bench.driver.clone(id, 'copy', { linked, ...how })
    const machine = { name: 'more', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] }
    const all = async () => (await bench.driver.list()).map(({ name, state, problem }) => ({ name, state, problem }))
    const refuses = async (works: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> => {
      const before = await all()
      for (const [what, work] of Object.entries(works)) {
        disk.fill()
        await expect(work(), what).rejects.toMatchObject({ fault: 'no-space' })
        expect(await all(), what).toEqual(before)
      }
      await bench.close()
      await bench.open()
      await bench.waitForView(id, { state: before[0]!.state })
      expect(await all()).toEqual(before)
      expect(readdirSync(join(disk.path, 'machines'))).toEqual([id])
      disk.empty()
    }
    const verbs = (...names: readonly Verb[]) =>
      Object.fromEntries(names.map(verb => [verb, () => bench.run(id, verb)] as const))

    await refuses({
      create: () => bench.driver.create(machine),
      clone: () => clone(false),
      'linked clone': () => clone(true),
      set: () => changeMachine(bench.driver, id, { memory: 32 }),
      ...verbs('start'),
    })
    await bench.run(id, 'start')
    await bench.nextTick(id)
    await refuses({
      ...verbs('pause', 'suspend', 'reset', 'restart', 'stop'),
      set: () => changeMachine(bench.driver, id, { description: 'new' }),
    })
    await bench.nextTick(id)
    for (const verb of ['pause', 'suspend'] as const) {
      await bench.run(id, verb)
      disk.fill()
      expect(await bench.run(id, 'resume'), verb).toMatchObject({ state: 'running' })
      disk.empty()
      await bench.nextTick(id)
    }
    await bench.run(id, 'suspend')
    disk.fill()
    expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    expect(await bench.listSavedMemory(id)).toEqual([])
    disk.empty()
    const linked = await clone(true)
    disk.fill()
    await bench.driver.remove(linked.id)
    expect(await all()).toEqual([{ name: 'demo', state: 'stopped', problem: undefined }])
    disk.empty()
    await clone(true)
    await bench.run(id, 'start')
    await bench.nextTick(id)
  })

  test('is made of nothing, and the caller is told why', async () => {
    using disk = newSmallDisk(8)
    await using bench = await openQemuBench({ folder: disk.path })
    const made = await bench.create('one')
    disk.fill()
    const deadline = new AbortController().signal
    const cloned = bench.driver.clone(made.id, 'two', { linked: false, deadline, onProgress: () => {} })
    await expect(cloned).rejects.toMatchObject({ fault: 'no-space' })
    await expect(changeMachine(bench.driver, made.id, { memory: 32 })).rejects.toMatchObject({ fault: 'no-space' })
    expect(await bench.driver.list()).toHaveLength(1)
  })
})

test.skipIf(!canMount)(
  `an embedded machine on a full disk is ended by force, and what has to be noted is refused${canMount ? '' : ': this user may not mount a file system'}`,
  async () => {
    using disk = newSmallDisk(24)
    const driver = createEmbeddedDriver({ folder: join(disk.path, 'machines'), ...embeddedParts, ...usual })
    await driver.open(() => {})
    const { id } = await driver.createDemo()
    const how = { force: false, deadline: AbortSignal.timeout(patience) }
    await driver.run(id, 'start', how)
    disk.fill()
    for (const verb of ['pause', 'suspend', 'restart', 'reset'] as const)
      await expect(driver.run(id, verb, how)).rejects.toMatchObject({ fault: 'no-space' })
    expect(await driver.get(id)).toMatchObject({ state: 'running' })
    await expect(changeMachine(driver, id, { description: 'x' })).rejects.toMatchObject({ fault: 'no-space' })
    expect(await driver.run(id, 'stop', { ...how, force: true })).toMatchObject({ state: 'stopped' })
    await driver.close()
  },
)
