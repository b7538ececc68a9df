import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { at, register, registerPack } from './packs.ts'

const place = at('win11', '24.2', 'arm64')
const reader = { as: ['LIST_CATALOG_MANIFEST'] }
const pack = '0123456789'
const bytesAt = `${place}/download?content=pack`

describe('the bytes of a pack', () => {
  test('are sent whole, without counting a download', async ({ call, folder }) => {
    await registerPack(call, folder, { pack })
    const { status, body, headers } = await call('GET', bytesAt, reader)
    expect({ status, body }).toEqual({ status: 200, body: pack })
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    })
    expect((await call('GET', place, reader)).body[0].download_count).toBe(0)
    await call('GET', `${place}/download`, reader)
    expect((await call('GET', place, reader)).body[0]).toMatchObject({
      download_count: 1,
      last_downloaded_user: 'tester',
      last_downloaded_at: expect.any(String),
    })
  })

  test.for([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, pack, 'bytes 0-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=5-2', 200, pack, null],
    ['bytes=0-1,3-4', 200, pack, null],
    ['lines=0-1', 200, pack, null],
    ['bytes=', 200, pack, null],
  ] as const)('%s gives %i', async ([range, status, body, contentRange], { call, folder }) => {
    await registerPack(call, folder, { pack })
    const answer = await call('GET', bytesAt, { ...reader, headers: { range } })
    expect({ status: answer.status, body: answer.body, contentRange: answer.headers.get('content-range') }).toEqual({
      status,
      body,
      contentRange,
    })
  })

  test('If-Range gives the whole object when it was replaced', async ({ call, folder }) => {
    await registerPack(call, folder, { pack })
    const etag = (await call('GET', bytesAt, reader)).headers.get('etag')!
    const part = (tag: string) => call('GET', bytesAt, { ...reader, headers: { range: 'bytes=0-0', 'if-range': tag } })
    expect(await part(etag)).toMatchObject({ status: 206, body: '0' })
    expect(await part('"other"')).toMatchObject({ status: 200, body: pack })
  })

  test('HEAD gives the size', async ({ call, folder }) => {
    await registerPack(call, folder, { pack })
    const { status, body, headers } = await call('HEAD', bytesAt, reader)
    expect({ status, body, length: headers.get('content-length') }).toEqual({
      status: 200,
      body: undefined,
      length: '10',
    })
  })

  test('a missing object is not found; a manifest without a provider is a conflict', async ({ call, folder }) => {
    await registerPack(call, folder, { pack })
    rmSync(join(folder, 'catalog/win11/win11-arm64-24.2.pdpack.pack.json'))
    expect((await call('GET', `${place}/download?content=pieces`, reader)).status).toBe(404)
    expect((await call('GET', `${place}/download?content=metadata`, reader)).status).toBe(200)
    expect((await call('GET', `${place}/download?content=other`, reader)).status).toBe(400)
    await register(call, { version: 'none' })
    expect((await call('GET', `${at('win11', 'none', 'arm64')}/download?content=pack`, reader)).status).toBe(409)
  })
})
