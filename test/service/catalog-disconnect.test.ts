import { existsSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Job } from '#lib/jobs/schemas.ts'
import { startNoisyGuest } from '../support/guests/noisy-guest.ts'
import { declareTests, rounds } from '../support/rounds.ts'
import { newState } from '../support/service.ts'
import { type Host, startHost } from '../support/transfers.ts'
import { until } from '../support/waiting.ts'

const push = {
  catalog_id: 'noisy',
  version: '1',
  connection: 'provider=local-storage',
  uuid: 'noisy',
  compress_pack: true,
  compress_level: 9,
}
const pull = { catalog_id: 'noisy', version: '1', machine_name: 'copy' }
const transfers = {
  push: { method: 'POST', body: push, step: 'push_compress_stage' },
  pull: { method: 'PUT', body: pull, step: 'decompressor' },
} as const

const filesBelow = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ name }) => name) : []

const newestJob = async (host: Host): Promise<Job | undefined> => (await host.call('GET', '/jobs')).body[0]

const ended = (host: Host): Promise<Job> =>
  until(async () => {
    const job = (await newestJob(host))!
    expect(['completed', 'failed']).toContain(job.state)
    return job
  })

/** Waits until the newest job, which is not the one of before, is in this step. */
const underWay = (host: Host, step: string, before: string | undefined): Promise<void> =>
  until(async () => {
    const job = await newestJob(host)
    expect(job?.id).not.toBe(before)
    expect(job?.steps?.find(({ name }) => name === step)?.state, job?.error).toBe('running')
  }, 2)

/** Sends a transfer, goes away while it is in its longest step, and gives its job when that has ended. */
const leave = async (host: Host, kind: keyof typeof transfers, query: string, more: object = {}): Promise<Job> => {
  const { method, body, step } = transfers[kind]
  const token = await host.service.signIn()
  const before = (await newestJob(host))?.id
  const sent = request(`${host.service.url}/api/v1/catalog/${kind}${query}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  })
  const { promise: broken, resolve } = Promise.withResolvers<void>()
  sent.once('error', () => resolve())
  sent.end(JSON.stringify({ ...body, ...more }))
  await underWay(host, step, before)
  sent.destroy()
  await broken
  return ended(host)
}

/** A host with a stopped machine that takes seconds to pack. */
const startNoisyHost = async () => {
  const state = newState()
  const host = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
  const { name } = await startNoisyGuest(host, state.path, 'embedded')
  await host.stop(name)
  return { host, state: state.path, [Symbol.dispose]: () => state[Symbol.dispose]() }
}
const gaveUp = { state: 'failed', code: 409, error: expect.stringContaining('disconnected') }

describe('when a client disconnects while it waits for', () => {
  test('a push, the push continues, or ends without remains if it was requested so', async () => {
    using noisy = await startNoisyHost()
    const { host, state } = noisy
    expect(await leave(host, 'push', '?cancel_on_disconnect=true')).toMatchObject(gaveUp)
    expect(filesBelow(join(state, 'transfers'))).toEqual([])
    expect(filesBelow(join(state, 'catalog')).filter(name => name !== 'noisy')).toEqual([])
    expect((await host.call('GET', '/catalog')).body).toEqual([])
    expect(await host.boot('noisy')).toBe(2)
    await host.stop('noisy')

    expect(await leave(host, 'push', '')).toMatchObject({ state: 'completed' })
    expect((await host.call('GET', '/catalog/noisy')).body).toHaveLength(1)
    expect(filesBelow(join(state, 'transfers'))).toEqual([])
    await host.service.stop()
  })

  test('a push that has suspended its machine, the machine is resumed at once', async () => {
    using state = newState()
    const host = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
    const guest = await startNoisyGuest(host, state.path, 'embedded')
    const left = await leave(host, 'push', '?cancel_on_disconnect=true', { suspend: true })
    expect(left).toMatchObject(gaveUp)
    expect((await host.call('GET', '/machines/noisy/status')).body.status).toBe('running')
    await guest.nextTick()
    expect(guest.boots()).toEqual([1])
    await host.service.stop()
  })

  // In every run a push is given up, and a pull is shut down.
  declareTests(false, () => {
    test('a pull, the pull continues, or ends without remains if it was requested so', async () => {
      using noisy = await startNoisyHost()
      const { host, state } = noisy
      const { status, body } = await host.call('POST', '/catalog/push', push)
      expect(status, body.message).toBe(200)
      const machines = filesBelow(join(state, 'machines')).toSorted()
      expect(await leave(host, 'pull', '?cancel_on_disconnect=true')).toMatchObject(gaveUp)
      expect(filesBelow(join(state, 'transfers'))).toEqual([])
      expect(filesBelow(join(state, 'machines')).toSorted()).toEqual(machines)
      expect((await host.call('GET', '/catalog/cache')).body).toEqual([])
      expect((await host.call('GET', '/machines/copy')).status).toBe(404)

      expect(await leave(host, 'pull', '')).toMatchObject({ state: 'completed' })
      expect(filesBelow(join(state, 'transfers'))).toEqual([])
      expect(await host.boot('copy')).toBe(2)
      await host.service.stop()
    })
  })
})

test.each(rounds(['pull'] as const, ['push', 'pull'] as const))(
  'a client that waits for a %s during the shutdown gets the job, which continues at the next start',
  async kind => {
    using noisy = await startNoisyHost()
    const { host, state } = noisy
    if (kind === 'pull') expect((await host.call('POST', '/catalog/push', push)).status).toBe(200)
    const { method, body, step } = transfers[kind]
    const before = (await newestJob(host))?.id
    const answer = host.call(method, `/catalog/${kind}`, body)
    await underWay(host, step, before)
    expect(await host.service.stop()).toBe(0)
    expect((await answer).status).toBe(503)
    const again = await startHost(state, 'embedded')
    expect(await ended(again)).toMatchObject({ state: 'completed' })
    await again.service.stop()
  },
)
