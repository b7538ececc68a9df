import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { addCard } from '#lib/hypervisor/network-modes.ts'
import { openQemuBench } from '../../../support/drivers/qemu-bench.ts'
import { runOnSerialLine } from '../../../support/guests/serial-shell.ts'
import { describeLinux, startLinux, waitUntilGuestReads } from '../../../support/network/linux-machine.ts'
import { openOutside } from '../../../support/network/outside.ts'
import { listPassts } from '../../../support/network/passts.ts'
import { withoutPasst } from '../../../support/network/requirements.ts'
import { until } from '../../../support/waiting.ts'

describe.skipIf(withoutPasst !== undefined)(withoutPasst ?? 'a passt that ends alone', () => {
  test('is replaced while the machine runs, which is reported, and also after the service was down', async () => {
    await using bench = await openQemuBench()
    await using outside = await openOutside()
    const { id } = await bench.driver.create(describeLinux('nat', ['nat']))
    const machine = await startLinux(bench.driver, id)
    const waitUntilConnected = (): Promise<void> =>
      waitUntilGuestReads(machine, `${outside.address}:${outside.port}`, 'outside')
    await waitUntilConnected()
    const listReports = () =>
      bench.events
        .flatMap(event => (event !== 'gap' && 'view' in event ? [event.view] : []))
        .filter((view: MachineView) => view.disconnectedCards?.includes('net1'))
    // QEMU shows a socket that it is about to connect like one that has lost its other end.
    expect(listReports()).toEqual([])

    const [first] = await listPassts(id)
    process.kill(first!, 'SIGKILL')
    await until(() => expect(listReports()).not.toEqual([]))
    await until(async () => expect(await bench.get(id)).not.toHaveProperty('disconnectedCards'))
    expect(await listPassts(id)).not.toEqual([])
    await waitUntilConnected()

    await bench.close()
    const [second] = await listPassts(id)
    expect(second).not.toBe(first)
    process.kill(second!, 'SIGKILL')
    await until(async () => expect(await listPassts(id)).toEqual([]))
    await bench.open()
    await waitUntilConnected()
    // Its memory is saved and loaded with the replaced connection.
    await bench.run(id, 'suspend')
    await until(async () => expect(await listPassts(id)).toEqual([]))
    await bench.run(id, 'resume')
    await waitUntilConnected()
  })

  test('goes with its card, and comes with another one, while the machine runs', async () => {
    await using bench = await openQemuBench()
    await using outside = await openOutside()
    const { id } = await bench.driver.create(describeLinux('plugged', ['isolated']))
    const machine = await startLinux(bench.driver, id)
    const { definition } = await bench.get(id)
    const plugged = { ...definition, networks: [...definition.networks, addCard(definition.networks, 'nat')] }
    for (let round = 0; round < 2; round += 1) {
      await bench.driver.configure(id, plugged)
      expect(await listPassts(id)).toHaveLength(1)
      await runOnSerialLine(machine, 'ip link set eth1 up; udhcpc -i eth1 -s /etc/address.sh -n -q')
      await waitUntilGuestReads(machine, `${outside.address}:${outside.port}`, 'outside')
      await bench.driver.configure(id, definition)
      await until(async () => expect(await listPassts(id)).toEqual([]))
    }
    expect(await bench.get(id)).not.toHaveProperty('disconnectedCards')
  })

  test('leaves a card that is disconnected, if no other starts, until the machine stops', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.driver.create(describeLinux('nat', ['nat']))
    await startLinux(bench.driver, id)
    const folder = join(home, 'net')
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'no folder')
    const [passt] = await listPassts(id)
    process.kill(passt!, 'SIGKILL')
    await until(async () => expect((await bench.get(id)).disconnectedCards).toEqual(['net1']))
    expect((await bench.get(id)).state).toBe('running')
    rmSync(folder)
    await bench.run(id, 'stop', { force: true })
    expect(await bench.get(id)).not.toHaveProperty('disconnectedCards')
  })
})
