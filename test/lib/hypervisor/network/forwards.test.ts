import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Forward } from '#lib/hypervisor/machine-parts.ts'
import { openQemuBench } from '../../../support/drivers/qemu-bench.ts'
import { runOnSerialLine } from '../../../support/guests/serial-shell.ts'
import { openCountingServer } from '../../../support/network/counting-server.ts'
import { describeLinux, startLinux } from '../../../support/network/linux-machine.ts'
import { withoutGuests } from '../../../support/network/requirements.ts'

const forward = (host_port: number, guest_port: number): Forward => ({
  protocol: 'tcp',
  host_address: '127.0.0.1',
  host_port,
  guest_port,
})
/** A port that nothing has at this moment. */
const findFreePort = async (): Promise<number> => {
  await using server = await openCountingServer('127.0.0.1')
  return server.port
}
const readPage = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/`)).text()

/** The addresses and ports on which the process of this machine listens. */
const listListening = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === '0A')
    .map(([, local = '']) => local)
    .filter(local => local.slice(6, 8) === '7F' && !local.startsWith('0100007F'))

describe.skipIf(withoutGuests !== undefined)(withoutGuests ?? 'forwards and tunnels to a guest', () => {
  test('lead to ports of the guest, and nothing stays open after a tunnel', async () => {
    await using bench = await openQemuBench()
    const { driver } = bench
    const [first, second] = [await findFreePort(), await findFreePort()]
    const { id } = await driver.create(describeLinux('web', ['isolated'], [forward(first, 80)]))
    const machine = await startLinux(driver, id)
    expect(await readPage(first)).toBe('small linux\n')

    await driver.setForwards!(id, [forward(first, 80), forward(second, 80)])
    expect(await readPage(second)).toBe('small linux\n')
    await driver.setForwards!(id, [forward(second, 80)])
    await expect(readPage(first)).rejects.toThrow('fetch failed')
    expect((await bench.get(id)).definition.forwards).toEqual([forward(second, 80)])

    // A taken port is refused by its name, and the others stay as they were.
    await using taken = await openCountingServer('127.0.0.1')
    await expect(driver.setForwards!(id, [forward(first, 80), forward(taken.port, 80)])).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining(`tcp:127.0.0.1:${taken.port}`),
    })
    expect(await readPage(second)).toBe('small linux\n')
    await expect(readPage(first)).rejects.toThrow('fetch failed')

    const pid = await bench.pid(id)
    const tunnel = await driver.openTunnel!(id, 7)
    expect(listListening(pid)).toEqual([])
    tunnel.write('through the tunnel')
    expect((await once(tunnel, 'data'))[0].toString()).toBe('through the tunnel')
    await expect(driver.openTunnel!(id, 9)).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('port 9'),
    })
    const many = await Promise.all(Array.from({ length: 8 }, () => driver.openTunnel!(id, 7)))
    for (const [at, each] of many.entries()) {
      each.write(`number ${at}`)
      expect((await once(each, 'data'))[0].toString()).toBe(`number ${at}`)
      each.destroy()
    }
    expect(listListening(pid)).toEqual([])

    // Both hold after a suspend, and a tunnel ends with its machine.
    const ended = once(tunnel, 'close')
    await bench.run(id, 'suspend')
    await ended
    await bench.run(id, 'resume')
    expect(await readPage(second)).toBe('small linux\n')
    expect((await runOnSerialLine(machine, 'echo still here')).output).toBe('still here')
    await bench.run(id, 'stop', { force: true })

    // A port that another program has taken meanwhile.
    await using other = await openCountingServer('127.0.0.1')
    await driver.setForwards!(id, [forward(other.port, 80)])
    await expect(bench.run(id, 'start')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining(`tcp:127.0.0.1:${other.port}`),
    })
  })

  test('a guest that does not answer is told from one that refuses', async () => {
    await using bench = await openQemuBench()
    const { id } = await bench.driver.create(describeLinux('silent'))
    const machine = await startLinux(bench.driver, id)
    await runOnSerialLine(machine, 'ip link set eth0 down')
    await expect(bench.driver.openTunnel!(id, 7)).rejects.toMatchObject({ fault: 'timeout' })
    expect(listListening(await bench.pid(id))).toEqual([])
  })

  test('a machine without an isolated card has neither', async () => {
    await using bench = await openQemuBench()
    const { id } = await bench.driver.create(describeLinux('none', []))
    await bench.run(id, 'start')
    const refusal = { fault: 'unsupported', message: expect.stringContaining('isolated network card') }
    await expect(bench.driver.openTunnel!(id, 22)).rejects.toMatchObject(refusal)
    await expect(bench.driver.setForwards!(id, [forward(18_080, 80)])).rejects.toMatchObject(refusal)
    const socket = connect(18_080, '127.0.0.1')
    await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED')
  })
})
