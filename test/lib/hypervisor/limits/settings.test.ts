import { readFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { createQemu, withoutQemu } from '../../../support/drivers/qemu.ts'
import { newEventLog } from '../../../support/events.ts'
import { buildSpinningDisk } from '../../../support/guests/spinning-guest.ts'
import { host } from '../../../support/harness.ts'
import { refuseImage } from '../../../support/images.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'the limits of a machine', () => {
  let folder: string
  let driver: HypervisorDriver
  let machines: Machines

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-limits-'))
    driver = await createQemu(join(folder, 'machines'))
    const log = await newEventLog()
    machines = await openMachines({ driver, host, leaseImage: refuseImage, stopTimeout: 20_000, ...log })
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) await machines.remove(id, { force: true }).catch(() => {})
    await machines.close()
    await rm(folder, { recursive: true })
  })

  const set = (id: string, operation: string, value: string, dryRun = false) =>
    machines.set(id, { operations: [{ group: 'limits', operation, value, options: [], flags: [] }] }, { dryRun })

  test('are set on a running machine and stand in its record, and a pack has none', async () => {
    const path = join(folder, 'disk.img')
    buildSpinningDisk(path)
    const base = { name: 'one', description: '', cpus: 1, memory: 16, networks: [] }
    const { id } = await machines.create({ ...base, disks: [{ path }], limits: { disk_operations_per_second: 50 } })
    await machines.run(id, 'start')
    expect(machines.show(id)).toMatchObject({ limits: { disk_operations_per_second: 50 } })

    expect(await set(id, 'disk_bytes_per_second', '1000000', true)).toMatchObject({
      operations: [{ change: { field: 'disk_bytes_per_second', from: 'none', to: 1_000_000 }, effect: 'now' }],
    })
    expect(machines.show(id)).not.toHaveProperty('limits.disk_bytes_per_second')
    await set(id, 'disk_bytes_per_second', '1000000')
    await set(id, 'disk_operations_per_second', 'none')
    // A machine without cards has none that could not keep it.
    await set(id, 'network_bytes_per_second', '50000')
    expect(machines.show(id).limits).toEqual({ disk_bytes_per_second: 1_000_000, network_bytes_per_second: 50_000 })
    await expect(set(id, 'cpu_percent', '0')).rejects.toMatchObject({ fault: 'invalid' })

    const { home } = (await driver.get(id))!
    const definition = { ...JSON.parse(readFileSync(join(home, 'machine.json'), 'utf8')), networks: [] }
    expect(definition.limits).toBeDefined()
    const imported = await driver.import({ id: crypto.randomUUID(), name: 'imported' }, async pack => {
      const disks = [{ path: 'disk', size: 1 << 20, format: 'raw' }]
      await copyFile(path, join(pack, 'disk'))
      await writeFile(join(pack, 'machine.json'), JSON.stringify({ ...definition, disks }))
    })
    expect(imported.definition.limits).toBeUndefined()
    for (const name of ['disk_bytes_per_second', 'network_bytes_per_second']) await set(id, name, 'none')
    expect(machines.show(id)).not.toHaveProperty('limits')
  })
})
