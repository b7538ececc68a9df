import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'

const push = async (call: Call, as = ['*']) => {
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
  return call('POST', '/api/v1/catalog/push', { as, body })
}
const alias = (call: Call, pack_path: string, more: object = {}) =>
  call('POST', '/api/v1/catalog', {
    body: {
      catalog_id: 'golden',
      version: '1',
      architecture: 'x86_64',
      provider: { type: 'local-storage' },
      path: '/demo',
      pack_path,
      ...more,
    },
  })

test('a push does not overwrite the pack of a manifest that its caller may not see', async ({ call, folder }) => {
  const { pack_filename } = (await push(call)).body[0]
  await alias(call, pack_filename, { required_claims: ['VAULT'] })
  await call('DELETE', '/api/v1/catalog/demo?clean_remote=false')
  const file = join(folder, 'catalog/demo', pack_filename)
  writeFileSync(file, 'of the golden one')
  const pushed = await push(call, ['PUSH_CATALOG_MANIFEST'])
  expect(pushed.status).toBe(200)
  expect(pushed.body[0].pack_filename).not.toBe(pack_filename)
  expect(readFileSync(file, 'utf8')).toBe('of the golden one')
})

test('a push that replaces a pack does not remove it while another manifest refers to it', async ({
  call,
  folder,
  driver,
}) => {
  const { pack_filename } = (await push(call)).body[0]
  await alias(call, pack_filename)
  const [{ id }] = (await call('GET', '/api/v1/machines')).body.map(({ ID }: { ID: string }) => ({ id: ID }))
  const { home, definition } = (await driver.get(id))!
  writeFileSync(join(home, definition.disks[0]!.path), 'another disk')
  const replaced = (await push(call)).body[0]
  expect(replaced.pack_filename).not.toBe(pack_filename)
  expect(readdirSync(join(folder, 'catalog/demo'))).toContain(pack_filename)
})
