import { expect, onTestFinished, test } from 'vitest'
import { connectAgent } from '#lib/hypervisor/agent/agent.ts'
import { measureCards } from '#lib/hypervisor/qemu/hardware/measure-cards.ts'
import { startFakeAgent } from '../../../support/guests/fake-agent.ts'

const machine = {
  id: crypto.randomUUID(),
  networks: [
    { mac: '52:54:00:AA:00:01', mode: 'isolated', name: 'net0' },
    { mac: '52:54:00:aa:00:02', mode: 'nat', name: 'net3' },
  ],
}
const open = (...interfaces: object[]) => {
  const fake = startFakeAgent()
  fake.interfaces = interfaces
  const agent = connectAgent(fake.stream)
  onTestFinished(() => agent.close())
  return { fake, agent }
}
const describeInterface = (mac: string, received: unknown, sent: unknown): object => ({
  name: 'eth0',
  'hardware-address': mac,
  statistics: { 'rx-bytes': received, 'tx-bytes': sent, 'rx-packets': 1 },
})

test('what a guest has counted stands under the name of the card, with who has counted', async () => {
  const { agent } = open(
    { name: 'lo', 'hardware-address': '00:00:00:00:00:00', statistics: { 'rx-bytes': 9, 'tx-bytes': 9 } },
    describeInterface('52:54:00:aa:00:01', 700, 300),
    // A bridge of the guest, on that card.
    describeInterface('52:54:00:aa:00:01', 600, 200),
    describeInterface('52:54:00:aa:00:02', 0, 42),
  )
  expect(await measureCards(machine, agent)).toEqual([
    { card: 'net0', countedBy: 'guest', bytesReceived: 700, bytesSent: 300 },
    { card: 'net3', countedBy: 'guest', bytesReceived: 0, bytesSent: 42 },
  ])
})

test.for([
  ['less than nothing', -1],
  ['more than a number can hold', 2 ** 70],
  ['text', '7'],
] as const)('a card of which a guest counts %s is left out, and the others are not', async ([, count]) => {
  const { agent } = open(describeInterface('52:54:00:aa:00:01', count, 1), describeInterface('52:54:00:aa:00:02', 5, 6))
  expect(await measureCards(machine, agent)).toMatchObject([{ card: 'net3' }])
})

test('cards that nobody counts are left out: without an agent, without its answer, and without a tap', async () => {
  expect(await measureCards(machine, undefined)).toEqual([])
  const { fake, agent } = open(describeInterface('52:54:00:aa:00:01', 1, 1))
  fake.disabled.add('guest-network-get-interfaces')
  expect(await measureCards(machine, agent)).toEqual([])
  const onNetwork = { ...machine, networks: [{ mac: '52:54:00:aa:00:01', mode: 'network:lab', name: 'net0' }] }
  fake.disabled.clear()
  expect(await measureCards(onNetwork, agent)).toEqual([])
})
