import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

const maker = ['other', 'CREATE_VM', 'LIST_VM', 'UPDATE_VM_STATES']
const ids = { tester: '00000000-0000-4000-8000-0000000000aa', other: '00000000-0000-4000-8000-0000000000bb' }

test.for([
  ['who may not enter the source', maker, ids.tester, 403],
  // Without an agent there is nothing to run it.
  ['who may enter every machine', [...maker, 'EXECUTE_COMMAND_VM'], ids.other, 409],
] as const)('a clone by a user %s has the right owner', async ([, claims, owner, status], { call }) => {
  await call('POST', '/api/v1/machines', { body: { name: 'secrets', memory: 16, disks: [{ size: 1 }] } })
  const cloned = await call('PUT', '/api/v1/machines/secrets/clone', { as: claims, body: { clone_name: 'copy' } })
  expect(cloned.status).toBe(200)
  const [record] = (await call('GET', '/api/v1/machines/copy')).body
  expect(record.owner).toBe(owner)
  await call('PUT', '/api/v1/machines/copy/start', { as: claims })
  const entered = await call('PUT', '/api/v1/machines/copy/execute', { as: maker, body: { command: 'true' } })
  expect(entered.status).toBe(status)
})

test('a user who clones an own machine owns the clone', async ({ call }) => {
  await call('POST', '/api/v1/machines', { as: maker, body: { name: 'mine', memory: 16, disks: [{ size: 1 }] } })
  await call('PUT', '/api/v1/machines/mine/clone', { as: maker, body: { clone_name: 'copy' } })
  expect((await call('GET', '/api/v1/machines/copy')).body[0].owner).toBe(ids.other)
})
