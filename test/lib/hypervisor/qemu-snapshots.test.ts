import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { newEventLog } from '../../support/events.ts'
import { getSmallLinux, withoutLinux } from '../../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../../support/guests/serial-shell.ts'
import { host } from '../../support/harness.ts'
import { refuseImage } from '../../support/images.ts'
import { until } from '../../support/waiting.ts'

const root = {
  id: crypto.randomUUID(),
  username: 'root',
  email: '',
  roles: [],
  claims: new Set<never>(),
  superUser: true,
}

const reason = withoutQemu ? 'QEMU is not installed' : withoutLinux

describe.skipIf(reason !== undefined)(reason ?? 'snapshots of a Linux guest on QEMU', () => {
  let folder: string
  let driver: HypervisorDriver
  let machines: Machines
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-snapshots-'))
    driver = await createQemu(join(folder, 'machines'))
    machines = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 20_000,
      ...(await newEventLog()),
    })
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) await machines.remove(id, { force: true }).catch(() => {})
    await machines.close()
    await rm(folder, { recursive: true })
  })

  const view = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const run = async (id: string, command: string): Promise<string> =>
    (await runOnSerialLine(await view(id), command)).output
  const untilRun = (id: string, command: string, expected: string): Promise<void> =>
    until(async () => expect(await run(id, command)).toBe(expected))
  const set = (id: string, operation: string, value: string, size?: string) => {
    const options = size === undefined ? [] : [{ flag: 'size', value: size }]
    return machines.set(
      id,
      { operations: [{ group: 'device', operation, value, options, flags: [] }] },
      { dryRun: false },
    )
  }
  const create = (id: string, snapshot_name: string) =>
    machines.createSnapshot(id, { snapshot_name, snapshot_description: '', memory: true }, { caller: root })

  test('a disk with an overlay grows, is copied and is removed, and a revert brings it back with its content', async () => {
    const { kernel, initrd, cmdline } = getSmallLinux()
    const disks = [{ size: 8 }, { size: 8 }]
    const { id } = await machines.create({
      ...{ name: 'linux', description: '', cpus: 1, memory: 128, disks, kernel, initrd, cmdline },
    })
    await machines.run(id, 'start')
    await waitForSerial(await view(id), /GUEST:READY/)
    await run(id, 'echo then > /tmp/file; echo before > /dev/vdb; sync')
    await create(id, 'then')
    await run(id, 'echo now > /tmp/file; echo change > /dev/vdb; sync')
    await create(id, 'now')
    await run(id, 'echo later > /dev/vdb; sync')
    const copy = await machines.clone(id, 'copy', { linked: false })

    await set(id, 'set', 'hdd1', '16')
    await untilRun(id, 'cat /sys/block/vdb/size', '32768')
    await run(id, 'echo end | dd of=/dev/vdb bs=1M seek=15 2>/dev/null; sync')
    await untilRun(id, 'dd if=/dev/vdb bs=1M skip=15 count=1 2>/dev/null | head -c 3', 'end')
    await set(id, 'remove', 'hdd1')
    await untilRun(id, 'ls -d /sys/block/vdb 2>/dev/null | wc -l', '0')

    for (const [name, memory, disk] of [
      ['then', 'then', 'before'],
      ['now', 'now', 'change'],
      ['then', 'then', 'before'],
    ] as const) {
      await machines.revertToSnapshot(id, name, { caller: root, skipResume: false })
      // The guest has read the disk before, and what it has read is in its memory.
      await untilRun(id, 'cat /tmp/file', memory)
      await run(id, 'echo 3 > /proc/sys/vm/drop_caches')
      await untilRun(id, 'head -c 6 /dev/vdb', disk)
      expect((await view(id)).definition.disks).toHaveLength(2)
      await untilRun(id, 'cat /sys/block/vdb/size', '16384')
      await run(id, 'echo dropped > /tmp/file; echo dropped > /dev/vdb; sync')
    }
    await machines.run(copy, 'start')
    await waitForSerial(await view(copy), /GUEST:READY/)
    await untilRun(copy, 'head -c 5 /dev/vdb', 'later')
  })
})
