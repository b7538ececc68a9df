import { createSocket, type Socket } from 'node:dgram'
import { readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { buildSendingKernel } from '../../support/guests/sending-guest.ts'
import { newState } from '../../support/service.ts'
import { startHost } from '../../support/transfers.ts'
import { until } from '../../support/waiting.ts'

const problem = "reaches the host's loopback"

const ownAddresses = Object.values(networkInterfaces()).flatMap(all => all ?? [])
const outward = ownAddresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const hasSixth = ownAddresses.some(({ address }) => address === '::1')

const listen = (type: 'udp4' | 'udp6', heard: Set<string>): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createSocket({ type, ipv6Only: type === 'udp6' })
    socket.on('message', text => heard.add(text.toString()))
    socket.once('error', reject)
    socket.bind(0, () => resolve(socket))
  })

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'the network of a machine', () => {
  test('reaches nothing of the host, unless it is one of before, which says so until it is isolated', async () => {
    using state = newState()
    const heard = new Set<string>()
    const sockets = [await listen('udp4', heard), ...(hasSixth ? [await listen('udp6', heard)] : [])]
    const ports = sockets.map(socket => socket.address().port)
    const everything = [
      { to: '10.0.2.2', port: ports[0]!, text: 'loopback' },
      ...(outward === undefined ? [] : [{ to: outward, port: ports[0]!, text: 'another address' }]),
      ...(hasSixth ? [{ to: 'fec0::2', port: ports[1]!, text: 'loopback of IPv6' }] : []),
    ]
    let host = await startHost(state.path, 'qemu')
    const kernel = join(state.path, 'attach', 'sending.bin')
    writeFileSync(kernel, buildSendingKernel(everything))
    const change = (path = '') =>
      host.call('PUT', `/machines/one/set${path}`, {
        operations: [{ group: 'network', operation: 'set', value: 'isolated' }],
      })
    const created = await host.call('POST', '/machines', { name: 'one', memory: 16, kernel })
    expect(created.body).toMatchObject({
      network: 'isolated',
      message: expect.stringContaining('neither the internet'),
    })
    const record = async () => (await host.call('GET', '/machines/one')).body[0]
    const { Home: home, ...first } = await record()
    expect(first).toMatchObject({ Hardware: { net0: { enabled: true, type: 'isolated' } } })
    expect(first).not.toHaveProperty('problem')
    /** Starts the machine, and stops it when its guest has sent everything some times more. */
    const sendAll = async (): Promise<void> => {
      const said = (): number => readFileSync(join(home, 'serial.log')).length
      expect((await host.call('PUT', '/machines/one/start')).status).toBe(200)
      const before = said()
      await until(() => expect(said()).toBeGreaterThan(before + 20))
    }
    const stop = () => host.call('PUT', '/machines/one/stop?force=true')

    await sendAll()
    await stop()
    expect([...heard]).toEqual([])

    // As an earlier version has left it.
    await host.service.stop()
    const file = join(home, 'machine.json')
    const definition = JSON.parse(readFileSync(file, 'utf8'))
    expect(definition.networks).toEqual([{ mac: expect.any(String), mode: 'isolated', name: 'net0' }])
    delete definition.networks[0].mode
    writeFileSync(file, JSON.stringify(definition))
    host = await startHost(state.path, 'qemu')
    expect(await record()).toMatchObject({ problem, Hardware: { net0: { type: 'shared' } } })
    const cloned = await host.call('PUT', '/machines/one/clone', { clone_name: 'two' })
    expect(cloned.status, cloned.body.message).toBe(200)
    expect((await host.call('GET', '/machines/two/status')).body).toMatchObject({ status: 'stopped', problem })

    await sendAll()
    await until(() => expect([...heard].sort()).toEqual(everything.map(({ text }) => text).sort()))
    expect((await host.call('GET', '/machines/one/status')).body).toMatchObject({ status: 'running', problem })
    expect(await change()).toMatchObject({ status: 409 })
    await stop()

    expect((await change('?dry_run=true')).body.operations).toMatchObject([
      { change: { field: 'network', from: 'open', to: 'isolated' } },
    ])
    expect((await change()).status).toBe(200)
    expect(await record()).not.toHaveProperty('problem')
    heard.clear()
    await sendAll()
    expect([...heard]).toEqual([])
    await stop()
    for (const socket of sockets) socket.close()
  })
})
