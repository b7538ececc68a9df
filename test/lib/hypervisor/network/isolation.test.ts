import { describe, expect, test } from 'vitest'
import { openQemuBench } from '../../../support/drivers/qemu-bench.ts'
import { runOnSerialLine } from '../../../support/guests/serial-shell.ts'
import { openCountingServer } from '../../../support/network/counting-server.ts'
import {
  describeLinux,
  readFromGuest,
  startLinux,
  waitUntilGuestReads,
} from '../../../support/network/linux-machine.ts'
import { openOutside } from '../../../support/network/outside.ts'
import { listPassts } from '../../../support/network/passts.ts'
import { withoutPasst } from '../../../support/network/requirements.ts'
import { until } from '../../../support/waiting.ts'

/** The gateways of both cards, and other addresses that networks inside hypervisors have. */
const gateways = ['10.0.2.2', '10.0.3.2', '127.0.0.1']

describe.skipIf(withoutPasst !== undefined)(withoutPasst ?? 'what guests reach from inside', () => {
  test('an isolated guest reaches neither the loopback of the host, nor its other addresses, nor the outside', async () => {
    await using bench = await openQemuBench()
    await using outside = await openOutside()
    await using loopback = await openCountingServer('127.0.0.1')
    await using open = await openCountingServer('0.0.0.0')
    const { id } = await bench.driver.create(describeLinux('isolated'))
    const machine = await startLinux(bench.driver, id)
    for (const address of gateways)
      for (const { port } of [loopback, open]) expect(await readFromGuest(machine, `${address}:${port}`)).toBe('')
    expect(await readFromGuest(machine, `${outside.hostAddress}:${open.port}`)).toBe('')
    // Also not if the guest makes itself a way.
    await runOnSerialLine(machine, 'ip route add default via 10.0.2.2')
    expect(await readFromGuest(machine, `${outside.hostAddress}:${open.port}`)).toBe('')
    expect(await readFromGuest(machine, `${outside.address}:${outside.port}`)).toBe('')
    expect((await runOnSerialLine(machine, `ping -c 1 -W 2 ${outside.address}`)).exitCode).not.toBe(0)
    expect(loopback.connections() + open.connections()).toBe(0)
  })

  test('a nat guest reaches the outside and not the loopback of the host; its passt ends with it', async () => {
    await using bench = await openQemuBench()
    await using outside = await openOutside()
    await using loopback = await openCountingServer('127.0.0.1')
    const { id, definition } = await bench.driver.create(describeLinux('nat', ['nat']))
    expect(definition.networks.map(({ mode }) => mode)).toEqual(['isolated', 'nat'])
    const machine = await startLinux(bench.driver, id)
    await waitUntilGuestReads(machine, `${outside.address}:${outside.port}`, 'outside')
    // What is not the host's goes to the outside, where these addresses may be anything.
    for (const address of gateways) expect(await readFromGuest(machine, `${address}:${loopback.port}`)).not.toBe('host')
    expect(loopback.connections()).toBe(0)

    expect(await listPassts(id)).toHaveLength(1)
    await bench.run(id, 'suspend')
    await until(async () => expect(await listPassts(id)).toEqual([]))
    await bench.run(id, 'resume')
    await waitUntilGuestReads(machine, `${outside.address}:${outside.port}`, 'outside')
    process.kill(await bench.pid(id), 'SIGKILL')
    await until(async () => expect(await listPassts(id)).toEqual([]))
  })

  test('a nat guest reaches the loopback of the host if the settings allow that', async () => {
    await using bench = await openQemuBench({ reachesLoopback: true })
    await using loopback = await openCountingServer('127.0.0.1')
    const { id } = await bench.driver.create(describeLinux('trusted', ['nat']))
    const machine = await startLinux(bench.driver, id)
    await waitUntilGuestReads(machine, `10.0.3.2:${loopback.port}`, 'host')
  })
})
