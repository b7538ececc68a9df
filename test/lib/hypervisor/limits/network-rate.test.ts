import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { CardUsage, HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { openQemuBench } from '../../../support/drivers/qemu-bench.ts'
import { runOnSerialLine, waitForSerial } from '../../../support/guests/serial-shell.ts'
import { listInterfacesWith } from '../../../support/network/interfaces.ts'
import { describeLinux, startLinux } from '../../../support/network/linux-machine.ts'
import { withoutHostNetwork } from '../../../support/network/requirements.ts'
import { until } from '../../../support/waiting.ts'

const readCard = async (driver: HypervisorDriver, id: string): Promise<CardUsage> =>
  (await driver.measure!(id))!.networks[0]!

describe.skipIf(withoutHostNetwork !== undefined)(withoutHostNetwork ?? 'the rate of network cards', () => {
  test('what goes over a card keeps to its rate in both directions, while it changes and after a kill of the service', async () => {
    await using bench = await openQemuBench()
    const limits = { network_bytes_per_second: 20_000 }
    const { id, definition } = await bench.driver.create({ ...describeLinux('limited', ['network:lab']), limits })
    const others = ['free', 'other'].map(name => bench.driver.create(describeLinux(name, ['network:lab'])))
    const ids = [id, ...(await Promise.all(others)).map(machine => machine.id)]
    const [limited, free, other] = await Promise.all(ids.map(each => startLinux(bench.driver, each)))
    const [, address] = await waitForSerial(other!, /GUEST:IP eth0 (\S+)/)
    // The third machine takes on one port what the others send, and sends on another one.
    await runOnSerialLine(other!, "nc -ll -p 9 -e sh -c 'cat >/dev/null' & nc -ll -p 10 -e cat /dev/zero &")
    for (const machine of [limited!, free!])
      for (const flow of [`nc ${address} 9 </dev/zero >/dev/null`, `sleep 9999 | nc ${address} 10 >/dev/null`])
        await runOnSerialLine(machine, `(while :; do ${flow}; done) 2>/dev/null &`)

    /** Returns what goes over the limited card in each direction, as a part of what goes over the free one meanwhile. */
    const compareBytes = async () => {
      const read = () => Promise.all([id, free!.id].map(each => readCard(bench.driver, each)))
      const [limitedBefore, freeBefore] = await read()
      return until(async () => {
        const [limitedNow, freeNow] = await read()
        const compare = (member: 'bytesReceived' | 'bytesSent'): number => {
          const bytes = freeNow![member] - freeBefore![member]
          expect(bytes).toBeGreaterThan(10_000_000)
          return (limitedNow![member] - limitedBefore![member]) / bytes
        }
        return { received: compare('bytesReceived'), sent: compare('bytesSent') }
      }, 100)
    }
    const expectLimited = async (): Promise<void> => {
      const { received, sent } = await compareBytes()
      expect(received).toBeLessThan(0.05)
      expect(sent).toBeLessThan(0.05)
    }
    await expectLimited()
    await bench.driver.configure(id, { ...definition, limits: {} })
    expect(listInterfacesWith(id)).toHaveLength(1)
    // A connection that has lost packets at the limit waits before it sends again.
    await until(async () => {
      const { received, sent } = await compareBytes()
      expect(received).toBeGreaterThan(0.1)
      expect(sent).toBeGreaterThan(0.1)
    })
    await bench.driver.configure(id, definition)
    await expectLimited()

    // As if the service had been killed in the middle of a change.
    const [tap] = listInterfacesWith(id)
    await bench.close()
    execFileSync('tc', ['qdisc', 'delete', 'dev', tap!, 'root'])
    execFileSync('tc', ['qdisc', 'delete', 'dev', tap!, 'ingress'])
    await bench.open()
    await expectLimited()

    await bench.run(id, 'stop', { force: true })
    expect(listInterfacesWith(id)).toHaveLength(2)
    await bench.driver.remove(id)
    expect(listInterfacesWith(id)).toEqual([])
  })

  test('a card that cannot keep a rate is named, with the modes that can', async () => {
    await using bench = await openQemuBench()
    const { driver } = bench
    const limits = { network_bytes_per_second: 100_000 }
    for (const [modes, card] of [
      [['isolated'], 'net0'],
      [['network:lab', 'isolated'], 'net1'],
    ] as const)
      await expect(driver.create({ ...describeLinux('one', modes), limits })).rejects.toMatchObject({
        fault: 'unsupported',
        message: expect.stringMatching(
          new RegExp(`card ${card}, whose mode is isolated.*bridge:NAME and network:NAME`),
        ),
      })
    const { id, definition } = await driver.create({ ...describeLinux('one', ['network:lab']), limits })
    const view = (await driver.get(id))!
    const networks = describeLinux('one', ['network:lab', 'nat']).networks!
    expect(() => driver.checkChange(view, { ...definition, networks: [...networks] })).toThrow('whose mode is')
    expect(driver.checkChange(view, { ...definition, networks: [...networks], limits: {} })).toBe('now')
  })
})
