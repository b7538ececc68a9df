import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Limits } from '#lib/hypervisor/machine-parts.ts'
import { openCpuGroups } from '#lib/hypervisor/qemu/cgroup/cpu-groups.ts'
import { findGroup } from '#lib/hypervisor/qemu/cgroup/find-group.ts'
import { withoutQemu } from '../../../support/drivers/qemu.ts'
import { openQemuBench, type QemuBench } from '../../../support/drivers/qemu-bench.ts'
import { buildSpinningDisk } from '../../../support/guests/spinning-guest.ts'
import { until } from '../../../support/waiting.ts'

const { problem } = await openCpuGroups('/')
const reason = withoutQemu ? 'QEMU is not installed' : problem

const createSpinning = ({ folder, driver }: QemuBench, name: string, limits?: Limits): Promise<MachineView> => {
  const path = join(folder, `${name}.img`)
  buildSpinningDisk(path)
  return driver.create({ name, description: '', cpus: 1, memory: 16, disks: [{ path }], ...(limits && { limits }) })
}

const readSeconds = async (driver: HypervisorDriver, id: string): Promise<number> =>
  (await driver.measure!(id))!.cpuSeconds

/** Returns what one machine uses of the processor, as a part of what the other one uses in the same time. */
const compareUse = async (driver: HypervisorDriver, limited: string, free: string): Promise<number> => {
  const [limitedBefore, freeBefore] = [await readSeconds(driver, limited), await readSeconds(driver, free)]
  const used = await until(async () => {
    const seconds = (await readSeconds(driver, free)) - freeBefore
    expect(seconds).toBeGreaterThan(1)
    return seconds
  }, 50)
  return ((await readSeconds(driver, limited)) - limitedBefore) / used
}

describe.skipIf(reason !== undefined)(reason ?? 'the share of a CPU', () => {
  const findFolder = async (bench: QemuBench, id: string): Promise<string> =>
    (await findGroup('/proc', await bench.pid(id)))!.folder

  test('a machine keeps its share from its start on, while it changes, and after a kill of the service', async () => {
    await using bench = await openQemuBench()
    const limited = await createSpinning(bench, 'limited', { cpu_percent: 5 })
    const free = await createSpinning(bench, 'free')
    for (const { id } of [limited, free]) await bench.run(id, 'start')
    const { id, definition } = limited
    const compare = (): Promise<number> => compareUse(bench.driver, id, free.id)
    expect(await compare()).toBeLessThan(0.5)
    const group = await findFolder(bench, id)
    expect(group).toContain(id)
    expect(await findFolder(bench, free.id)).not.toContain(free.id)

    await bench.driver.configure(id, { ...definition, limits: {} })
    // Other programs may keep one of the processors busy for a while.
    await until(async () => expect(await compare()).toBeGreaterThan(0.5))
    const quota = ['cpu.cfs_quota_us', 'cpu.max'].map(name => join(group, name)).find(existsSync)!
    const unlimited = readFileSync(quota, 'utf8')
    await bench.driver.configure(id, { ...definition, limits: { cpu_percent: 5 } })
    const set = readFileSync(quota, 'utf8')
    expect(set).not.toBe(unlimited)

    // As if the service had been killed in the middle of a change.
    await bench.close()
    writeFileSync(quota, unlimited)
    await bench.open()
    expect(readFileSync(quota, 'utf8')).toBe(set)
    expect(await compare()).toBeLessThan(0.5)

    await bench.run(id, 'stop', { force: true })
    await bench.driver.remove(id)
    expect(existsSync(group)).toBe(false)
  })

  test('a machine that runs gets its first limit, and the group of a machine that is gone goes at the next start', async () => {
    await using bench = await openQemuBench()
    const { id, definition } = await createSpinning(bench, 'one')
    await bench.run(id, 'start')
    const { driver, folder } = bench
    await driver.configure(id, { ...definition, limits: { cpu_percent: 30 } })
    const group = await findFolder(bench, id)
    expect(group).toContain(id)
    await bench.run(id, 'suspend')
    await bench.run(id, 'resume')
    expect(await findFolder(bench, id)).toBe(group)
    await bench.close()
    process.kill(await bench.pid(id), 'SIGKILL')
    await rename(join(folder, 'machines', id), join(folder, 'elsewhere'))
    await bench.open()
    expect(existsSync(group)).toBe(false)
  })
})
