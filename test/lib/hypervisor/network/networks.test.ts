import { existsSync, readFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addCard } from '#lib/hypervisor/network-modes.ts'
import { nameService } from '#lib/hypervisor/qemu/network/names.ts'
import { openQemuBench } from '../../../support/drivers/qemu-bench.ts'
import { runOnSerialLine, waitForSerial } from '../../../support/guests/serial-shell.ts'
import { openCountingServer } from '../../../support/network/counting-server.ts'
import { listInterfacesWith, listTables, makeBridge } from '../../../support/network/interfaces.ts'
import {
  describeLinux,
  readFromGuest,
  startLinux,
  waitUntilGuestReads,
} from '../../../support/network/linux-machine.ts'
import { withoutHostNetwork } from '../../../support/network/requirements.ts'
import { until } from '../../../support/waiting.ts'

describe.skipIf(withoutHostNetwork !== undefined)(withoutHostNetwork ?? 'bridges and networks among machines', () => {
  test('machines of a network reach each other by name, and not the host', async () => {
    await using bench = await openQemuBench()
    const { driver } = bench
    await using server = await openCountingServer('0.0.0.0')
    const machines = []
    for (const name of ['Web Server', 'client'])
      machines.push(await driver.create(describeLinux(name, ['network:lab'])))
    const [web, client] = await Promise.all(machines.map(({ id }) => startLinux(driver, id)))
    const [, address] = await waitForSerial(web!, /GUEST:IP eth0 (10\.213\.\d+\.\d+)/)
    const { output } = await runOnSerialLine(client!, 'nslookup web-server.lab; nslookup web-server')
    expect(output.match(new RegExp(`Address.*: ${address}`, 'g'))).toHaveLength(2)
    await waitUntilGuestReads(client!, `${address}:80`, 'small linux')

    const gateway = `${address!.split('.').slice(0, 3).join('.')}.1`
    await runOnSerialLine(client!, `ip route add default via ${gateway}`)
    for (const host of [gateway, '192.0.2.2', '127.0.0.1'])
      expect(await readFromGuest(client!, `${host}:${server.port}`)).toBe('')
    expect(server.connections()).toBe(0)

    // The service and one QEMU are killed. The next start finds the rest again, and takes away what nobody uses.
    const { folder } = bench
    const networks = join(folder, 'networks')
    const pid = (): number => Number(readFileSync(join(networks, 'lab', 'dnsmasq.pid'), 'utf8'))
    const before = pid()
    await bench.close()
    process.kill(await bench.pid(web!.id), 'SIGKILL')
    process.kill(before, 'SIGKILL')
    await bench.open()
    expect(pid()).not.toBe(before)
    await until(async () => expect((await bench.get(web!.id)).state).toBe('stopped'))
    const again = await startLinux(bench.driver, web!.id)
    await waitForSerial(again, new RegExp(`GUEST:IP eth0 ${address}[^]*GUEST:IP eth0 ${address}`))
    await waitUntilGuestReads(client!, `${address}:80`, 'small linux')

    const last = pid()
    const network = `${nameService(networks)} network lab`
    const [bridge] = listInterfacesWith(network)
    expect(listTables()).toContain(bridge)
    for (const { id } of [web!, client!]) {
      expect(listInterfacesWith(id)).toHaveLength(1)
      await bench.run(id, 'stop', { force: true })
      await bench.driver.remove(id)
      expect(listInterfacesWith(id)).toEqual([])
    }
    expect(listTables()).not.toContain(bridge)
    expect(listInterfacesWith(network)).toEqual([])
    expect(existsSync(join(networks, 'lab'))).toBe(false)
    expect(() => process.kill(last, 0)).toThrow('ESRCH')
  })

  test('a machine on a bridge of the host is on the network of that bridge', async () => {
    await using bench = await openQemuBench()
    using bridge = makeBridge()
    await using server = await openCountingServer('198.19.77.1')
    const { id } = await bench.driver.create(describeLinux('bridged', [`bridge:${bridge.name}`, 'isolated']))
    const machine = await bench.run(id, 'start')
    await waitForSerial(machine, /GUEST:READY/)
    // The bridge has no DHCP server. The guest's client takes addresses away when it begins to ask for one.
    await until(async () => {
      await runOnSerialLine(machine, 'ip address replace 198.19.77.2/24 dev eth0')
      expect(await readFromGuest(machine, `198.19.77.1:${server.port}`)).toBe('host')
    })

    // A tap whose machine is gone is taken away at the next start of the service.
    await bench.close()
    const { folder, get } = bench
    const { definition } = await get(id)
    process.kill(await bench.pid(id), 'SIGKILL')
    await rename(join(folder, 'machines', id), join(folder, 'elsewhere'))
    expect(listInterfacesWith(id)).toHaveLength(1)
    await bench.open()
    expect(listInterfacesWith(id)).toEqual([])
    expect(definition.networks).toHaveLength(2)
  })

  test('a running machine takes cards of each mode and gives them back, with what they have on the host', async () => {
    await using bench = await openQemuBench()
    using bridge = makeBridge()
    await using server = await openCountingServer('198.19.77.1')
    const { driver } = bench
    const { id, definition } = await driver.create(describeLinux('growing'))
    const machine = await startLinux(driver, id)
    const added = addCard(definition.networks, `bridge:${bridge.name}`)
    const { networks } = (await driver.configure(id, { ...definition, networks: [...definition.networks, added] }))
      .definition
    expect(listInterfacesWith(id)).toHaveLength(1)
    await until(async () => {
      await runOnSerialLine(machine, 'ip address replace 198.19.77.2/24 dev eth1')
      expect(await readFromGuest(machine, `198.19.77.1:${server.port}`)).toBe('host')
    })
    const other = addCard(networks, 'network:hot')
    await driver.configure(id, { ...definition, networks: [...networks, other] })
    await waitForSerial(machine, /GUEST:IP eth2 10\.213\./)
    await driver.configure(id, { ...definition, networks })
    await driver.configure(id, definition)
    expect(listInterfacesWith(id)).toEqual([])
    expect(listInterfacesWith(' network hot')).toEqual([])
    expect((await runOnSerialLine(machine, 'ls /sys/class/net')).output.split(/\s+/).sort()).toEqual(['eth0', 'lo'])
  })

  test('a bridge that is not there is refused by its name', async () => {
    await using bench = await openQemuBench()
    const wanted = { fault: 'invalid', message: expect.stringContaining('no bridge nowhere0') }
    await expect(bench.driver.create(describeLinux('lost', ['bridge:nowhere0']))).rejects.toMatchObject(wanted)
    await expect(bench.driver.create(describeLinux('lost', ['bridge:lo']))).rejects.toMatchObject({
      message: expect.stringContaining('is no bridge'),
    })
    expect(await bench.driver.list()).toEqual([])
  })
})
