import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { at, register, registerPack, createSidecar } from '../../functions/catalog/packs.ts'
import { type Call, test } from '../../support/harness.ts'

/** The claims of a user who imports and deletes. */
const as = ['IMPORT_CATALOG_MANIFEST', 'DELETE_CATALOG_MANIFEST', 'LIST_CATALOG_MANIFEST', 'CREATE_CATALOG_MANIFEST']

const leave = (folder: string, name: string, content: string | Buffer): string => {
  mkdirSync(join(folder, 'theirs'), { recursive: true })
  writeFileSync(join(folder, 'theirs', name), content)
  return join(folder, 'theirs', name)
}
const importVm = (call: Call, folder: string, machine_remote_path: string, more: object = {}) =>
  call('PUT', '/api/v1/catalog/import-vm', {
    as,
    body: {
      catalog_id: 'leak',
      version: '1',
      architecture: 'x86_64',
      connection: `provider=local-storage;catalog_path=${join(folder, 'theirs')}`,
      machine_remote_path,
      type: 'qemu',
      size: 10,
      ...more,
    },
  })

describe('an import', () => {
  test.for([
    ['text', 'root:*:20228', {}, 'not a pack'],
    ['nothing', '', {}, 'not a pack'],
    ['a pack of another size', gzipSync('x'.repeat(100)), { size: 4000 }, 'but the request says 4000'],
  ] as const)('refuses a file that is %s, and writes nothing', async ([, content, more, why], { call, folder }) => {
    leave(folder, 'shadow', content)
    const { status, body } = await importVm(call, folder, 'shadow', more)
    expect(status).toBe(400)
    expect(body.message).toContain(why)
    expect((await call('GET', '/api/v1/catalog')).body).toEqual([])
    expect(readdirSync(join(folder, 'theirs'))).toEqual(['shadow'])
  })

  test('refuses a folder that is not a bundle, without listing it', async ({ call, folder }) => {
    mkdirSync(join(folder, 'theirs/documents'), { recursive: true })
    leave(folder, 'documents/one', 'one')
    expect((await importVm(call, folder, 'documents', { type: 'pvm' })).status).toBe(404)
    expect(readdirSync(join(folder, 'theirs'))).toEqual(['documents'])
  })

  test('accepts a pack of the given size, in bytes or in MB', async ({ call, folder }) => {
    const pack = gzipSync(Buffer.alloc(1000, 'x'))
    leave(folder, 'good.pdpack', pack)
    for (const [version, size] of [
      ['1', pack.length],
      ['2', 1],
    ] as const) {
      const { status, body } = await importVm(call, folder, 'good.pdpack', { version, size })
      expect(status, body.message).toBe(200)
    }
  })

  test('refuses a pack that differs from its description', async ({ call, folder }) => {
    const place = join(folder, 'catalog/leak')
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'leak-x86_64-1.pdpack'), gzipSync('pack'))
    writeFileSync(join(place, 'leak-x86_64-1.meta'), JSON.stringify({ pack_size: 7 }))
    const body = { catalog_id: 'leak', version: '1', architecture: 'x86_64', connection: 'provider=local-storage' }
    const answer = await call('PUT', '/api/v1/catalog/import', { as, body })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('description says 7') } })
  })
})

describe('a deletion', () => {
  test('of an import removes the record, keeps the objects, and says so', async ({ call, folder }) => {
    const pack = gzipSync('theirs')
    const file = leave(folder, 'machine.pdpack', pack)
    expect((await importVm(call, folder, 'machine.pdpack', { size: pack.length })).status).toBe(200)
    const { status, body } = await call('DELETE', at('leak'), { as })
    expect(status).toBe(202)
    expect(body.message).toContain('These packs stay on the provider')
    expect(body.message).toContain('machine.pdpack')
    expect(readFileSync(file).equals(pack)).toBe(true)
    expect((await call('GET', at('leak'))).status).toBe(404)
  })

  test('of a manifest whose pack is a folder removes nothing in the folder', async ({ call, folder }) => {
    const file = leave(folder, 'secret.txt', 'the only copy')
    const provider = { type: 'local-storage', meta: { catalog_path: folder } }
    await register(
      call,
      { catalog_id: 'mine', provider, path: '/', pack_path: 'theirs', pack_relative_path: 'x' },
      { as },
    )
    expect((await call('DELETE', at('mine'), { as })).status).toBe(202)
    expect(readFileSync(file, 'utf8')).toBe('the only copy')
  })

  test('keeps a pack whose sidecar has another digest', async ({ call, folder }) => {
    await registerPack(call, folder, { pack_sha256: hash('sha256', 'another') })
    const { body } = await call('DELETE', at('win11'), { as })
    expect(body.message).toContain('win11/win11-arm64-24.2.pdpack')
    expect(readdirSync(join(folder, 'catalog/win11'))).toHaveLength(3)
  })

  test('keeps a file that has replaced the pack', async ({ call, folder }) => {
    await registerPack(call, folder)
    const file = join(folder, 'catalog/win11/win11-arm64-24.2.pdpack')
    writeFileSync(file, 'something else altogether')
    expect((await call('DELETE', at('win11'), { as })).status).toBe(202)
    expect(readFileSync(file, 'utf8')).toBe('something else altogether')
  })

  test('that was interrupted between the pack and its sidecar can be repeated', async ({ call, folder }) => {
    await registerPack(call, folder)
    rmSync(join(folder, 'catalog/win11/win11-arm64-24.2.pdpack'))
    const { body } = await call('DELETE', at('win11'), { as })
    expect(body.message).not.toContain('Left')
    expect(existsSync(join(folder, 'catalog/win11'))).toBe(false)
  })
})

test('a push does not remove a file with the name of a pack that it did not write', async ({ call, folder }) => {
  const push = async () => {
    const body = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source' }
    expect((await call('POST', '/api/v1/catalog/push', { body })).status).toBe(200)
  }
  await call('POST', '/api/v1/machines', { body: { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  await push()
  const place = join(folder, 'catalog/demo')
  writeFileSync(join(place, 'demo-x86_64-1~00000000.pdpack'), 'somebody else’s')
  const old = 'an older pack of this manifest'
  const name = `demo-x86_64-1~${hash('sha256', old).slice(0, 8)}.pdpack`
  writeFileSync(join(place, name), old)
  writeFileSync(join(place, `${name}.pack.json`), createSidecar(name, old))
  await call('PUT', '/api/v1/machines/source/set', {
    body: { operations: [{ group: 'memory', operation: 'set', value: '32' }] },
  })
  await push()
  const left = readdirSync(place)
  expect(left).toContain('demo-x86_64-1~00000000.pdpack')
  expect(left.filter(file => file.startsWith(name))).toEqual([])
})
