import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Control, openControl } from '../../support/hosts/control.ts'
import { type ControlClient, openClient } from '../../support/hosts/control-client.ts'
import { until } from '../../support/waiting.ts'

/** What the host `bad` replies. The host `good` has one machine. */
let reply: (path: string) => Response
let control: Control
let client: ControlClient
const machine = { ID: '00000000-0000-4000-8000-000000000001', Name: 'one' }
beforeEach(async () => {
  control = await openControl({
    async fetch(url) {
      const { hostname, pathname } = new URL(url)
      return hostname.startsWith('bad') ? reply(pathname) : Response.json([machine])
    },
  })
  client = await openClient(control.app)
  for (const name of ['bad', 'good']) {
    const { body: host } = await client.asRoot('POST', '/hosts', { name, url: `https://${name}.example.test` })
    const report = { version: '1', driver: 'embedded', architecture: 'x86_64' }
    await client.ask('PUT', `/hosts/${host.id}/heartbeat`, {
      headers: { 'x-host-key': host.key },
      body: { ...report, capacity: { cpus: 1, memory: 1, free_memory: 1 } },
    })
  }
})
afterEach(() => control[Symbol.asyncDispose]())

test.each([
  ['of millions of empty objects', () => new Response(`[${'{},'.repeat(3_000_000)}{}]`)],
  ['that is nested deeply', () => new Response(`[${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}]`)],
  ['that is no machines', () => Response.json([{}, 'text', { ID: 1, Name: ['x'] }])],
])('a list %s costs the machines of other hosts nothing', async (_, list) => {
  reply = list
  const { status, body } = await client.asRoot('GET', '/machines')
  expect(status).toBe(200)
  expect(body).toMatchObject([{ Name: 'one', host: 'good' }])
})

test('a refusal that is long or has control characters is cut and cleaned', async () => {
  reply = () =>
    Response.json(
      {
        message: `\u001b[31m${'x'.repeat(1_000_000)}`,
        stack: Array.from({ length: 5_000 }, () => ({ error: 'y'.repeat(1_000) })),
        more: 'z'.repeat(1_000_000),
      },
      { status: 409, headers: { 'Retry-After': 'soon' } },
    )
  const { status, body, headers } = await client.asRoot('GET', '/machines/one/status?host=bad')
  expect(status).toBe(409)
  expect(JSON.stringify(body).length).toBeLessThan(300_000)
  expect(body.message).toMatch(/^ \[31mx/)
  expect(headers.get('retry-after')).toBeNull()
})

test.each([
  ['is none', { id: 'x', state: 'running' }],
  [
    'has steps without end',
    { state: 'running', steps: Array.from({ length: 1_000 }, (_, at) => ({ name: `s${at}` })) },
  ],
  ['has a result that is too long', { state: 'completed', result: 'x'.repeat(2_000_000) }],
])('a job of a host that %s fails as its host does', async (_, job) => {
  const id = crypto.randomUUID()
  const step = { display_name: 'Step', weight: 1, state: 'running' }
  const full = { id, ...job, ...('steps' in job && { steps: job.steps.map(named => ({ ...step, ...named })) }) }
  reply = () => Response.json(full, { status: 202, headers: { location: `/api/v1/jobs/${id}` } })
  const started = await client.asRoot('PUT', '/machines/one/start?host=bad', undefined, { prefer: 'respond-async' })
  expect(started.status).toBe(202)
  await until(async () => {
    const { body } = await client.asRoot('GET', `/jobs/${started.body.id}`)
    expect(body).toMatchObject({ state: 'failed', code: 502 })
    expect(JSON.stringify(body).length).toBeLessThan(10_000)
  })
})

test.each([
  ['no machine', { id: 5 }, 'its member id must be'],
  ['a text', 'done', 'it must be an object'],
])('a reply that is %s is a failure of its host', async (_, body, why) => {
  reply = () => Response.json(body)
  const answer = await client.asRoot('PUT', '/machines/one/start?host=bad')
  expect(answer).toMatchObject({ status: 502, body: { message: expect.stringContaining('The reply of the host bad') } })
  expect(answer.body.message).toContain(`machines.start: ${why}`)
})

test('the result of a job that is not one of its request fails the job', async () => {
  const id = crypto.randomUUID()
  reply = () =>
    Response.json({ id, state: 'completed', result: { id: 5 } }, { status: 202, headers: { location: `/jobs/${id}` } })
  const started = await client.asRoot('PUT', '/machines/one/start?host=bad', undefined, { prefer: 'respond-async' })
  await until(async () => {
    const { body } = await client.asRoot('GET', `/jobs/${started.body.id}`)
    expect(body).toMatchObject({ state: 'failed', code: 502, error: expect.stringContaining('machines.start') })
  })
})

test('of a list with mistakes without end only the first is looked for', async () => {
  const records = Array.from({ length: 160_000 }, (_, at) => ({ ID: at, State: at, GuestTools: at }))
  reply = () => Response.json(records)
  const { status, body } = await client.asRoot('GET', '/machines')
  expect(status).toBe(200)
  expect(body).toMatchObject([{ Name: 'one', host: 'good' }])
})

test('a host that sends slowly has its own replies wait, and those of no other', async () => {
  const status = { id: machine.ID, status: 'stopped', ip_configured: '-' }
  const bodies: TransformStream<Uint8Array, Uint8Array>[] = []
  reply = () => {
    // Without a length it may become as large as all replies of the host together.
    const stream = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 0 }, { highWaterMark: 0 })
    bodies.push(stream)
    return new Response(stream.readable, { headers: { 'Content-Type': 'application/json' } })
  }
  const ask = () => client.asRoot('GET', '/machines/one/status?host=bad')
  const finish = async (at: number): Promise<void> => {
    const writer = bodies[at]!.writable.getWriter()
    await writer.write(new TextEncoder().encode(JSON.stringify(status)))
    await writer.close()
  }
  const [first, second] = [ask(), ask()]
  await until(() => expect(bodies).toHaveLength(2))
  const finished: number[] = []
  const secondSent = finish(1).then(() => finished.push(1))
  expect((await client.asRoot('GET', '/machines?host=good')).body).toHaveLength(1)
  expect(finished).toEqual([])
  await finish(0).then(() => finished.push(0))
  await secondSent
  expect(finished).toEqual([0, 1])
  expect([(await first).status, (await second).status]).toEqual([200, 200])
})
