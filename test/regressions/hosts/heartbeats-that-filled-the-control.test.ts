import { afterEach, beforeEach, expect, test } from 'vitest'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { findMachineChanges } from '#lib/hosts/agent/machine-changes.ts'
import { maxHeartbeatBytes } from '#lib/hosts/heartbeat-schemas.ts'
import { type Control, openControl } from '../../support/hosts/control.ts'
import { type ControlClient, openClient } from '../../support/hosts/control-client.ts'

const report = {
  version: '1',
  driver: 'embedded',
  architecture: 'x86_64',
  capacity: { cpus: 1, memory: 1, free_memory: 1 },
}
let control: Control
let client: ControlClient
let host: { readonly id: string; readonly key: string }
beforeEach(async () => {
  control = await openControl({
    async fetch() {
      throw new TypeError('fetch failed')
    },
  })
  client = await openClient(control.app)
  host = (await client.asRoot('POST', '/hosts', { name: 'a', url: 'https://a.example.test' })).body
})
afterEach(() => control[Symbol.asyncDispose]())

const beat = (body: object) =>
  client.ask('PUT', `/hosts/${host.id}/heartbeat`, { headers: { 'x-host-key': host.key }, body })

test('nothing of a heartbeat is read before its key is known', async () => {
  let read = 0
  const body = new ReadableStream(
    {
      pull(controller) {
        read += 1
        controller.enqueue(new Uint8Array(1_024))
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { 'x-host-key': `${host.id}.${'0'.repeat(64)}` }
  const init = { method: 'PUT', headers, body, duplex: 'half' }
  const request = new Request(`https://control.example.test/api/v1/hosts/${host.id}/heartbeat`, init)
  expect((await control.app.fetch(request, { address: '' })).status).toBe(401)
  expect(read).toBe(0)
})

test('of records that are too long, and of those after too many, the id and the name are kept', async () => {
  const ids = Array.from({ length: 1_200 }, () => crypto.randomUUID())
  const records = ids.map((ID, at) => ({
    ID,
    Name: `machine-${at}`,
    Description: 'x'.repeat(at === 0 ? 100_000 : 15_000),
  }))
  for (let at = 0; at < records.length; at += 200) {
    const machines = { tag: `${at}`, ids, changed: records.slice(at, at + 200) }
    expect(await beat({ ...report, machines })).toMatchObject({ status: 200 })
  }
  const { body: stale } = await client.asRoot('GET', '/machines')
  expect(stale).toHaveLength(1_200)
  const long = stale.filter((record: { Description?: string }) => record.Description !== undefined)
  expect(long.length).toBeGreaterThan(900)
  expect(long.length).toBeLessThan(1_100)
  expect(stale.find(({ Name }: { Name: string }) => Name === 'machine-0')).toMatchObject({ ID: ids[0], host: 'a' })
  expect(long.map(({ Name }: { Name: string }) => Name)).not.toContain('machine-0')
})

test('of an event that is too long only the machine and the host are kept', async () => {
  const entry = {
    id: 'ab',
    event_type: 'pdfm',
    timestamp: '2026-06-01T00:00:00.000Z',
    message: 'VM_ADDED',
    body: { vm_id: 'one', more: 'x'.repeat(1_000_000) },
  }
  expect(
    (await beat({ ...report, events: { after: '00000000-1', next: '00000000-2', entries: [entry] } })).status,
  ).toBe(200)
  const { body } = await client.asRoot('GET', '/events?types=pdfm')
  expect(body.events).toMatchObject([{ message: 'VM_ADDED', body: { vm_id: 'one', host: 'a' } }])
  expect(body.events[0].body).not.toHaveProperty('more')
})

test('a heartbeat about machines with texts of many bytes is not too large for the control', () => {
  const records = Array.from({ length: 500 }, () => ({
    ID: crypto.randomUUID(),
    Name: '機'.repeat(256),
    Description: '機'.repeat(8_000),
  }))
  const changes = findMachineChanges(new PreparedBody(JSON.stringify(records), '"1"'), undefined)!
  expect(changes.hasMore).toBe(true)
  // The events of the same heartbeat may be as many bytes.
  expect(Buffer.byteLength(JSON.stringify(changes.machines))).toBeLessThan(maxHeartbeatBytes / 2)
})
