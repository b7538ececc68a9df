import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { EventMessage } from '#lib/events/event.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'

const create = async (call: Call, ...verbs: readonly string[]): Promise<string> => {
  const { status, body } = await call('POST', '/api/v1/machines', {
    body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] },
  })
  expect(status).toBe(201)
  for (const verb of verbs) expect((await call('PUT', `/api/v1/machines/source/${verb}`)).status).toBe(200)
  return body.id
}
const push = (call: Call, more: object = {}, as: readonly string[] = ['*'], path = 'push'): Promise<Answer> =>
  call('POST', `/api/v1/catalog/${path}`, {
    as,
    body: { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source', ...more },
  })
const stateOf = async (call: Call): Promise<string> => (await call('GET', '/api/v1/machines/source/status')).body.status
const manifests = async (call: Call): Promise<number> => (await call('GET', '/api/v1/catalog')).body.length

/** Gives the states that the events of a machine have, in order. */
const listStates = async (call: Call): Promise<string[]> => {
  const events: EventMessage[] = (await call('GET', '/api/v1/events')).body.events
  return events
    .filter(({ message }) => message === 'VM_STATE_CHANGED')
    .map(event => String(event.body?.['current_state']))
}

describe('a push of a running machine', () => {
  test.for([{}, { compress_pack: true }, { chunked: true }])(
    'with `suspend` suspends and resumes the machine: %j',
    async (more, { call, folder }) => {
      await create(call, 'start')
      const { status, body } = await push(call, { ...more, suspend: true })
      expect(status, body.message).toBe(200)
      expect(body[0]).not.toHaveProperty('suspend')
      expect(await stateOf(call)).toBe('running')
      expect(await listStates(call)).toEqual(['starting', 'running', 'suspending', 'cloning', 'resuming', 'running'])
      expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
      const pulled = await call('PUT', '/api/v1/catalog/pull', {
        body: { catalog_id: 'demo', version: '1', machine_name: 'copy', start_after_pull: true },
      })
      expect(pulled.status, pulled.body.message).toBe(200)
    },
  )

  test.for([{}, { suspend: false }])(
    'without `suspend` is refused, and the message names it: %j',
    async (more, { call }) => {
      await create(call, 'start')
      const { status, body } = await push(call, more)
      expect(status).toBe(409)
      expect(body.message).toContain('`suspend`')
      expect(await stateOf(call)).toBe('running')
      expect(await manifests(call)).toBe(0)
    },
  )

  test('requires the right to suspend the machine; without it nothing changes', async ({ call, folder }) => {
    await create(call, 'start')
    const as = ['PUSH_CATALOG_MANIFEST']
    const { status, body } = await push(call, { suspend: true }, as)
    expect(status).toBe(403)
    expect(body.message).toContain('UPDATE_VM_STATES')
    const begun = await push(call, { suspend: true }, as, 'push/async')
    await expect
      .poll(async () => (await call('GET', `/api/v1/jobs/${begun.body.id}`)).body)
      .toMatchObject({ state: 'failed', code: 403 })
    expect(await listStates(call)).toEqual(['starting', 'running'])
    expect(await manifests(call)).toBe(0)
    expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
    expect((await push(call, { suspend: true }, [...as, 'UPDATE_VM_STATES'])).status).toBe(200)
  })

  test('is refused before the machine is suspended when the catalog has the manifest', async ({ call }) => {
    await create(call)
    expect((await push(call)).status).toBe(200)
    await call('PUT', '/api/v1/machines/source/start')
    expect((await push(call, { suspend: true, override_existing: false })).status).toBe(409)
    expect(await listStates(call)).toEqual(expect.not.arrayContaining(['suspending']))
  })

  test('resumes the machine when the pack is complete, before the upload', async ({ call, driver, folder }) => {
    await create(call, 'start')
    const { run } = driver
    const uploaded: boolean[] = []
    driver.run = async (id, verb, how) => {
      if (verb === 'resume') uploaded.push(existsSync(join(folder, 'catalog/demo/demo-x86_64-1.pdpack')))
      return run(id, verb, how)
    }
    expect((await push(call, { suspend: true })).status).toBe(200)
    expect(uploaded).toEqual([false])
  })

  test('resumes the machine when the job is cancelled', async ({ call, driver, folder }) => {
    await create(call, 'start')
    const { promise: collecting, resolve } = Promise.withResolvers<void>()
    driver.export = (_, { deadline }) =>
      new Promise((__, reject) => {
        deadline.addEventListener('abort', () => reject(deadline.reason as Error))
        resolve()
      })
    const { body } = await push(call, { suspend: true }, ['*'], 'push/async')
    await collecting
    expect(await stateOf(call)).toBe('cloning')
    for (const verb of ['start', 'resume', 'stop'])
      expect((await call('PUT', `/api/v1/machines/source/${verb}`)).status).toBe(409)
    expect((await call('POST', `/api/v1/jobs/${body.id}/cancel`)).status).toBe(202)
    await expect
      .poll(async () => (await call('GET', `/api/v1/jobs/${body.id}`)).body)
      .toMatchObject({ state: 'failed', code: 409, error: 'The job was cancelled by tester.' })
    expect(await stateOf(call)).toBe('running')
    expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
  })

  test('reports when the machine cannot be resumed', async ({ call, driver }) => {
    const id = await create(call, 'start')
    const { run } = driver
    driver.run = async (which, verb, how) => {
      if (verb === 'resume') throw new Error('there is not enough memory')
      return run(which, verb, how)
    }
    const { status, body } = await push(call, { suspend: true })
    expect(status).toBe(502)
    expect(body.message).toContain('source was suspended for this and could not be resumed: there is not enough memory')
    expect(await manifests(call)).toBe(0)
    driver.run = run
    expect(await stateOf(call)).toBe('suspended')
    expect((await call('PUT', `/api/v1/machines/${id}/resume`)).status).toBe(200)
  })

  test('reports the machine that cannot be resumed, even if the push failed before', async ({ call, driver }) => {
    await create(call, 'start')
    const { run } = driver
    const exportFiles = driver.export
    driver.export = async (...args) => {
      const exported = await exportFiles(...args)
      return { ...exported, files: [{ name: 'gone', path: '/nonexistent/gone' }] }
    }
    driver.run = async (which, verb, how) => {
      if (verb === 'resume') throw new Error('there is not enough memory')
      return run(which, verb, how)
    }
    const { status, body } = await push(call, { suspend: true })
    expect(status).toBe(502)
    expect(body.message).toContain('source was suspended for this and could not be resumed: there is not enough memory')
  })
})

test.for([
  [['start', 'suspend'], 200, 'suspended'],
  [[], 200, 'stopped'],
  [['start', 'pause'], 409, 'paused'],
] as const)('a push with `suspend` of a machine after %j', async ([verbs, status, state], { call }) => {
  await create(call, ...verbs)
  expect((await push(call, { suspend: true })).status).toBe(status)
  expect(await stateOf(call)).toBe(state)
})
