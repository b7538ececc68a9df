import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type * as source from '#lib/client/client.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

// The bundle has the types of its source.
const { createClient, VmhostError } = (await import(pathToFileURL('dist/client.mjs').href)) as typeof source

const environment = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }
const signIn = { username: 'root', password: rootPassword }

test('the built client receives each event once over restarts and kills of the built service', async () => {
  using state = newState()
  let service = await startService({ state: state.path, env: environment })
  const { url } = service
  const { api, events } = createClient({ url, signIn, retries: 20 })
  const abort = new AbortController()
  const received: string[] = []
  const seqs: number[] = []
  const reading = (async () => {
    for await (const event of events({ types: ['auth'], signal: abort.signal })) {
      expect(event.event_type).toBe('auth')
      if (event.event_type === 'gap') continue
      received.push(String(event.body?.['claim_id']))
      seqs.push(event.seq!)
    }
  })()
  const ended = expect(reading).rejects.toThrow('enough')
  // The stream begins at some moment. What happens after it is received.
  await until(async () => {
    await api.claims.create({ body: { name: `BEGIN_${crypto.randomUUID().slice(0, 8).toUpperCase()}` } })
    expect(received.length).toBeGreaterThan(0)
  })
  const names = ['A', 'B', 'C', 'D', 'E', 'F']
  for (const name of names) {
    // At the moment of the stop, of the kill and of nothing special, while the calls go on by themselves.
    const change = api.claims.create({ body: { name } })
    if (name === 'B') await service.stop()
    if (name === 'D') await service.kill()
    if (name === 'B' || name === 'D')
      service = await startService({ state: state.path, env: { ...environment, VMHOST_LISTEN: url } })
    // A change whose reply was lost in the kill may have to be looked for.
    await change.catch(async (error: unknown) => {
      expect(error).toBeInstanceOf(VmhostError)
      expect(await api.claims.show({ params: { id: name } })).toMatchObject({ id: name })
    })
  }
  await until(() => expect(received).toContain('F'))
  expect(received.filter(name => names.includes(name))).toEqual(names)
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other))
  abort.abort(new Error('enough'))
  await ended
  await service.stop()
})

test('the built client follows a job of the built service over a restart', async () => {
  using state = newState()
  let service = await startService({ state: state.path, env: environment })
  const { api, follow } = createClient({ url: service.url, signIn, retries: 20 })
  const job = await api.machines.start({ params: { id: 'demo' }, async: true })
  const done = follow(job)
  await service.stop()
  service = await startService({ state: state.path, env: { ...environment, VMHOST_LISTEN: service.url } })
  expect(await done).toMatchObject({ state: 'completed', result: { operation: 'Start', status: 'Success' } })
  await service.stop()
})

test('the built client opens a WebSocket, and signs in again after it has signed out', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env: environment })
  const { api } = createClient({ url: service.url, signIn })
  const key = await api.auth.createApiKey({ body: { name: 'ci' } })
  for (const client of [
    createClient({ url: service.url, signIn }),
    createClient({ url: service.url, apiKey: key.encoded }),
  ]) {
    const socket = await client.api.events.subscribe({ query: { event_types: 'auth' } })
    const opened = await new Promise(settle => {
      socket.addEventListener('message', ({ data }) => settle(JSON.parse(String(data))))
    })
    expect(opened).toMatchObject({ event_type: 'global' })
    const closed = new Promise(settle => {
      socket.addEventListener('close', settle)
    })
    socket.close()
    await closed
  }
  await api.auth.signOut()
  expect(await api.machines.list()).toHaveLength(1)
  await service.stop()
})
