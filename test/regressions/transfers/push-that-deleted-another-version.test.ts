import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

test('a push removes no pack of another version whose name begins with its own name', async ({ call }) => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const push = async (version: string): Promise<void> => {
    const body = { catalog_id: 'demo', version, connection: 'provider=local-storage', uuid: 'source' }
    const { status } = await call('POST', '/api/v1/catalog/push', { body })
    expect(status).toBe(200)
  }
  await push('1.0.20261121')
  await push('1.0')
  const { status } = await call('GET', '/api/v1/catalog/demo/1.0.20261121/x86_64/download?content=pack')
  expect(status).toBe(200)
})
