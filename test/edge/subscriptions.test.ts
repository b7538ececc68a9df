import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd } from '#build/workerd.ts'
import { unconfirmedReason } from '#lib/events/hibernating/client.ts'
import { createActions, type SubscriptionPlace, subscriptionContract } from '../contracts/subscriptions.ts'
import { connectReader } from '../support/event-reader.ts'
import { newFolder } from '../support/folder.ts'
import { outlastIdle } from '../support/silence.ts'
import { until } from '../support/waiting.ts'
import { bundleForWorkerd } from '../support/workerd/bundle.ts'

let folder: ReturnType<typeof newFolder>
let script: string
beforeAll(async () => {
  folder = newFolder()
  script = join(folder.path, 'subscriptions.mjs')
  await bundleForWorkerd('test/edge/programs/subscriptions.ts', script)
})
afterAll(() => folder[Symbol.dispose]())

const open = async (): Promise<SubscriptionPlace> => {
  const durableObjects = { SUBSCRIPTIONS: 'Subscriptions' }
  // In memory a Durable Object has no SQLite.
  const state = join(folder.path, crypto.randomUUID())
  const worker = await startWorkerd({ ...edgeSettings, script, durableObjects, entrypoints: {}, folder: state })
  return {
    url: worker.url,
    // An orderly end would wait for the WebSockets.
    [Symbol.asyncDispose]: () => worker.kill(),
    runTimers: () => fetch(`${worker.url}/timers`),
  }
}

subscriptionContract('in a Durable Object', open)

interface Instance {
  readonly instance: string
  readonly nextExpiry?: number
}

/** Waits until the object has slept: then its memory is another one. */
const sleep = async (url: string): Promise<void> => {
  const look = async () => (await (await fetch(`${url}/instance`)).json()) as Instance
  const before = await look()
  await until(async () => {
    // workerd evicts an object after ten seconds without a call; a look is a call.
    await outlastIdle(11_000)
    expect((await look()).instance).not.toBe(before.instance)
  })
}

test('clients stay connected while the object sleeps, and nothing is lost', async () => {
  await using place = await open()
  const { publish, grant, signOut, call } = createActions(place.url)
  await grant('jane', 'LIST')
  const jane = await connectReader(place.url, 'jane', '?event_types=pdfm')
  const root = await connectReader(place.url, 'root.9999999998', '?event_types=pdfm,auth')
  await publish('before')
  await Promise.all([jane.waitFor('before'), root.waitFor('before')])
  await sleep(place.url)
  // A message of a client wakes the object as well.
  jane.socket.send('{"event_type":"health","message":"ping","id":"awake"}')
  expect(await jane.waitFor('pong')).toMatchObject({ ref_id: 'awake' })
  await publish('after', { count: 100 })
  await publish('secret', { claim: 'SECRET' })
  await publish('signed in', { type: 'auth' })
  await Promise.all([jane.waitFor('after99'), root.waitFor('signed in')])
  expect(jane.messages.filter(one => one.seq !== undefined).map(({ seq }) => seq)).toEqual(
    Array.from({ length: 101 }, (_, at) => at + 1),
  )
  expect(root.events()).toHaveLength(103)
  expect((await call('GET', 'clients')).body).toMatchObject([
    { username: 'jane', event_subscriptions: ['pdfm', 'global'] },
    { username: 'root.9999999998'.split('.')[0], event_subscriptions: ['pdfm', 'auth', 'global'] },
  ])
  await sleep(place.url)
  await signOut('jane')
  expect(await jane.closed).toEqual([1008, 'This token was signed out; sign in again.'])
  await publish('last')
  await root.waitFor('last')
  const { nextExpiry } = (await (await fetch(`${place.url}/instance`)).json()) as Instance
  expect(nextExpiry).toBe(9_999_999_998_000)
})

test('a client that confirms nothing is cut off and continues with its cursor; one that confirms stays', async () => {
  await using place = await open()
  const { publish } = createActions(place.url)
  const silent = await connectReader(place.url, 'root', '?event_types=pdfm')
  const confirming = await connectReader(place.url, 'root', '?event_types=pdfm')
  confirming.socket.on('message', (data: Buffer) => {
    const { cursor } = JSON.parse(data.toString()) as { cursor?: string }
    if (cursor) confirming.socket.send(JSON.stringify({ event_type: 'system', message: 'confirm', id: cursor }))
  })
  await publish('e', { count: 200, bytes: 10_000 })
  await confirming.waitFor('e199')
  expect(await silent.closed).toEqual([1013, unconfirmedReason])
  const { cursor } = silent.messages.at(-1)!
  const again = await connectReader(place.url, 'root', `?event_types=pdfm&since=${cursor}`)
  await again.waitFor('e199')
  expect([...silent.events(), ...again.events()]).toEqual(confirming.events())
  expect(confirming.events()).toHaveLength(200)
})
