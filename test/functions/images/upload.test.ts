import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { type Call, test } from '../../support/harness.ts'

const MB = 2 ** 20
const disk = Buffer.concat([randomBytes(2 * MB), Buffer.alloc(MB)])
const sha256 = createHash('sha256').update(disk).digest('hex')
const path = '/api/v1/images/disk/upload'

const put = (call: Call, bytes: Uint8Array, start: number, more: { as?: string[]; range?: string } = {}) =>
  call('PUT', path, {
    body: bytes,
    headers: {
      'content-type': 'application/octet-stream',
      'content-range': more.range ?? `bytes ${start}-${start + bytes.length - 1}/*`,
    },
    ...(more.as && { as: more.as }),
  })
const finish = (call: Call, more: object = {}) =>
  call('POST', '/api/v1/images', { body: { name: 'disk', upload: true, sha256, ...more } })

describe('an upload of an image', () => {
  test.skipIf(withoutQemu)('comes in ranges, and is finished by its digest', async ({ call, folder }) => {
    expect((await call('GET', path)).status).toBe(404)
    expect((await put(call, disk.subarray(0, MB), 0)).body).toEqual({ name: 'disk', offset: MB })
    expect((await call('GET', path)).body).toEqual({ name: 'disk', offset: MB })
    // Another user has none of it.
    expect((await call('GET', path, { as: ['other', 'CREATE_IMAGE'] })).status).toBe(404)
    const early = await finish(call, { name: 'other' })
    expect([early.status, early.body.message]).toEqual([404, expect.stringMatching(/uploaded nothing under the name/)])
    for (const start of [MB / 2, 2 * MB]) {
      const gap = await put(call, disk.subarray(0, 1000), start)
      expect([gap.status, gap.body.offset]).toEqual([409, MB])
    }
    expect((await put(call, disk.subarray(MB), MB)).body.offset).toBe(disk.length)
    const { status, body } = await finish(call)
    expect(body).toMatchObject({ name: 'disk', sha256, format: 'raw', virtual_size: disk.length })
    expect([status, 'source_url' in body]).toEqual([201, false])
    expect(readdirSync(join(folder, 'state', 'images', 'uploads'))).toEqual([])
    const again = await put(call, disk.subarray(0, MB), 0)
    expect([again.status, again.body.message]).toEqual([409, expect.stringMatching(/There is an image with the name/)])
  })

  test('begins again with a range at 0, and is not used with another digest', async ({ call, folder }) => {
    await put(call, randomBytes(MB), 0)
    expect((await put(call, disk.subarray(0, 1000), 0)).body.offset).toBe(1000)
    const wrong = await finish(call)
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringMatching(/has the SHA-256/)])
    expect((await call('GET', path)).status).toBe(404)
    expect(readdirSync(join(folder, 'state', 'images', 'work'))).toEqual([])
  })

  test('is refused with a wrong range, and above the maximum', async ({ call }) => {
    for (const range of ['', 'bytes 0-9', 'bytes 9-0/*', 'bytes 0-9/5', 'items 0-9/*']) {
      const { status, body } = await put(call, Buffer.alloc(10), 0, { range })
      expect([status, body.message], range).toEqual([400, expect.stringMatching(/Content-Range: bytes FIRST-LAST/)])
    }
    expect((await put(call, Buffer.alloc(10), 0, { range: 'bytes 0-10/*' })).body.message).toMatch(
      /10 bytes, and .* 11/,
    )
    expect((await put(call, Buffer.alloc(10), 0, { range: `bytes ${2 ** 30}-${2 ** 30 + 9}/*` })).status).toBe(413)
    expect((await put(call, Buffer.alloc(16 * MB + 1), 0)).status).toBe(413)
    expect((await put(call, Buffer.alloc(10), 0, { as: ['LIST_IMAGE'] })).status).toBe(403)
    expect((await call('GET', path, { as: ['LIST_IMAGE'] })).status).toBe(403)
  })

  test('takes no range twice, also with an Idempotency-Key: the refusal tells where the next one begins', async ({
    call,
  }) => {
    const send = (text: string, range: string) =>
      call('PUT', path, {
        body: Buffer.from(text),
        headers: { 'content-range': `bytes ${range}/*`, 'idempotency-key': 'u-1' },
      })
    expect((await send('ab', '0-1')).body.offset).toBe(2)
    expect((await send('cd', '2-3')).body.offset).toBe(4)
    const again = await send('cd', '2-3')
    expect([again.status, again.body.offset]).toEqual([409, 4])
  })

  test('counts: nobody has more than eight under way', async ({ call }) => {
    const begin = (name: string) =>
      call('PUT', `/api/v1/images/${name}/upload`, {
        body: Buffer.from('x'),
        headers: { 'content-range': 'bytes 0-0/*' },
      })
    for (let at = 0; at < 8; at += 1) expect((await begin(`u${at}`)).status).toBe(200)
    const ninth = await begin('u8')
    expect([ninth.status, ninth.body.message]).toEqual([409, expect.stringMatching(/8 uploads under way/)])
  })
})
