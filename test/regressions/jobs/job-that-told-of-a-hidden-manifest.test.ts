import { expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'

const newMachine = (call: Call) =>
  call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
const owner = ['PUSH_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST', 'VAULT', 'JOB_MANAGER_LIST_OWN']
const push = (call: Call, more: object = {}) =>
  call('POST', '/api/v1/catalog/push', {
    as: owner,
    body: {
      catalog_id: 'hush',
      version: '1',
      connection: 'provider=local-storage',
      uuid: 'source',
      required_claims: ['VAULT'],
      ...more,
    },
  })

test('records and events of other users’ jobs do not show manifests that the caller may not see', async ({ call }) => {
  await newMachine(call)
  expect((await push(call)).status).toBe(200)
  // Its error names the manifest, and so does the step that failed.
  expect((await push(call, { override_existing: false })).status).toBe(409)
  const texts = async (as: readonly string[]): Promise<readonly string[]> => {
    const list = await call('GET', '/api/v1/jobs', { as })
    const shown = await Promise.all(
      list.body.map(async ({ id }: { id: string }) => (await call('GET', `/api/v1/jobs/${id}`, { as })).body),
    )
    const events = await call('GET', '/api/v1/events?types=job_manager&limit=1000', { as })
    return [list.body, shown, events.body.events].map(one => JSON.stringify(one))
  }
  const others = ['other', 'JOB_MANAGER_LIST', 'LIST_CATALOG_MANIFEST']
  for (const text of await texts(others)) expect(text).not.toContain('hush')
  for (const as of [owner, ['*']]) for (const text of await texts(as)) expect(text).toContain('hush')

  const jobs = (await call('GET', '/api/v1/jobs', { as: others })).body
  expect(jobs).toMatchObject([
    { state: 'failed', code: 409, job_operation: 'push', steps: expect.any(Array) },
    { state: 'completed', progress: 100, job_operation: 'push' },
  ])
  for (const job of jobs) {
    expect(Object.keys(job)).not.toEqual(expect.arrayContaining(['about']))
    for (const gone of ['about', 'error', 'message', 'result', 'result_record_id']) expect(job).not.toHaveProperty(gone)
  }
  expect((await call('GET', '/api/v1/jobs', { as: owner })).body[0].error).toContain('hush')
})

test('the reason of a failed job that is not about a manifest is shown', async ({ call }) => {
  const headers = { prefer: 'respond-async, wait=20' }
  const as = ['UPDATE_VM_STATES', 'LIST_VM']
  expect((await call('PUT', '/api/v1/machines/nobody/pause', { as, headers })).status).toBe(404)
  const [job] = (await call('GET', '/api/v1/jobs', { as: ['other', 'JOB_MANAGER_LIST'] })).body
  expect(job).toMatchObject({ state: 'failed', error: expect.stringContaining('nobody') })
})
