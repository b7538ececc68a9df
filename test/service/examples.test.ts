import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { routes } from '#functions/routes.gen.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Example } from '#lib/http/openapi/operation.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { forwardEndpoints, takeForwardTour } from '../support/tours/forward-tour.ts'
import { takeGuestTour } from '../support/tours/guest-tour.ts'
import { takeHostTour } from '../support/tours/host-tour.ts'
import { createStable, shapeOf } from '../support/stable.ts'
import { startSshd } from '../support/servers/sshd.ts'
import { type Take, takeTour } from '../support/tours/tour.ts'
import { pause } from '../support/waiting.ts'

const file = 'functions/examples.gen.json'
/** They have no plain request and reply, or one of bytes. */
const withoutText: ReadonlySet<string> = new Set([
  'events/subscribe',
  'machines/tunnel',
  'machines/screen',
  'machines/screenshot',
  // Only a host gets them while it pulls.
  'hosts/pack',
])
const table: readonly Route[] = routes

/** What of a reply is shown: the beginning of what goes on and on. */
const excerpt = (id: string, reply: unknown): unknown => {
  if (id === 'metrics/show') return String(reply).split('\n').slice(0, 4).join('\n')
  if (id !== 'openapi/show') return reply
  const { openapi, info } = reply as { openapi: string; info: { title: string; version: string } }
  return { openapi, info: { title: info.title, version: info.version } }
}

test('the examples in the OpenAPI document are real requests and replies; `npm run examples` renews them', async () => {
  using state = newState()
  await using sshd = await startSshd(`${state.path}-sshd`)
  const service = await startService({
    state: state.path,
    driver: 'embedded',
    env: {
      VMHOST_ROOT_PASSWORD: rootPassword,
      VMHOST_LISTEN: 'http://127.0.0.1:0',
      VMHOST_DEMO: 'off',
      VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
    },
  })
  const root = await service.signIn()
  const examples: Record<string, Example> = {}
  const stable = createStable({
    [service.url]: 'https://host-1.example.org:8443',
    [state.path]: '/var/lib/vmhost',
    [sshd.key]: '-----BEGIN OPENSSH PRIVATE KEY-----…',
    '127.0.0.1': '192.0.2.7',
  })
  const keep = (id: string, body: unknown, reply: unknown): void => {
    examples[id] ??= {
      ...(body !== undefined && { body: stable(body) }),
      ...(reply !== undefined && { reply: stable(reply) }),
    }
  }
  const take: Take = async (id, line, body, { token = root, headers } = {}) => {
    const [method = '', path = ''] = line.split(' ')
    const at = /^\/(metrics|\.well-known)/.test(path) ? path : `/api${path}`
    const response = await fetch(service.url + at, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
    })
    const text = await response.text()
    expect(response.ok, `${line}: ${response.status} ${text}`).toBe(true)
    const reply = response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : text
    if (id !== '') {
      const { endpoint } = table.find(route => route.id === id)!
      if (!endpoint.job?.detached && !endpoint.passThrough?.reply) endpoint.reply.parse(reply)
      keep(id, body instanceof Uint8Array ? undefined : body, excerpt(id, reply))
    }
    return reply
  }
  const ended = async (id: string): Promise<void> => {
    while (['pending', 'running'].includes((await take('', `GET /v1/jobs/${id}`)).state)) await pause(20)
  }

  await takeTour(take, { url: service.url, state: state.path, sshd, rootPassword, ended })
  // What is no plain request and reply.
  const authorization = `Bearer ${root}`
  const { events } = await take('', 'GET /v1/events?limit=2')
  const stream = await fetch(`${service.url}/api/v1/events/stream?since=${events[0].cursor}`, {
    headers: { authorization },
  })
  let frames = ''
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    frames += chunk
    if (frames.includes('id: ')) break
  }
  keep('events/stream', undefined, `${frames.slice(frames.indexOf('id: ')).split('\n\n')[0]}\n\n`)
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/ws/subscribe?event_types=pdfm`, {
    headers: { authorization },
  })
  const welcome = JSON.parse(String(await new Promise(resolve => socket.once('message', resolve))))
  await take('events/clients', 'GET /v1/ws/clients')
  await take('events/stats', 'GET /v1/ws/stats')
  const client = welcome.client_id ?? welcome.body?.client_id
  await take('events/unsubscribe', 'POST /v1/ws/unsubscribe', { client_id: client, event_types: ['pdfm'] })
  socket.terminate()
  await service.stop()

  await takeHostTour(keep)
  await takeGuestTour(keep)
  if (!withoutQemu) await takeForwardTour(keep)
  // Without QEMU, the examples of before stay.
  else for (const id of forwardEndpoints) examples[id] = JSON.parse(readFileSync(file, 'utf8'))[id]

  // Over a manager it needs a storage that both services reach, and is asked and answered as here.
  examples['catalog-managers/catalog-push'] = examples['catalog/push']!
  examples['catalog-managers/catalog-push-async'] = examples['catalog/push-async']!
  const sorted = Object.fromEntries(Object.entries(examples).sort(([a], [b]) => (a < b ? -1 : 1)))
  if (process.env['UPDATE_EXAMPLES'] === '1') writeFileSync(file, `${JSON.stringify(sorted, undefined, 1)}\n`)
  const without = table.map(({ id }) => id).filter(id => !withoutText.has(id) && !(id in examples))
  expect(without, 'the tour does not come by these').toEqual([])
  const known =
    process.env['UPDATE_EXAMPLES'] === '1'
      ? JSON.parse(readFileSync(file, 'utf8'))
      : (await loadApiDescription()).examples
  expect(shapeOf(sorted), 'stale: run `npm run examples`').toEqual(shapeOf(known))
})
