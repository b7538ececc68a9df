import { createHash, randomBytes } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeGuestFolder, startGuest } from '../../support/guests/running-guest.ts'
import { type Answer, type Open, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const web = '/api/v1/machines/web'
const filesAt = (path: string, query = ''): string => `${web}/files?path=${encodeURIComponent(path)}${query}`

const formatDigest = (bytes: Uint8Array): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`

/** Sends bytes as the body of a PUT. */
const put = async (
  open: Open,
  path: string,
  body: Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await open('PUT', path, { body, headers })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

test('a file of 5 MB goes there and back, with its digest', async ({ call, open, driver }) => {
  await startGuest(call, driver)
  const path = join(makeGuestFolder(), 'big file')
  const content = randomBytes(5_000_000)
  const written = await put(open, filesAt(path, '&mode=600'), content, { 'repr-digest': formatDigest(content) })
  expect(written).toMatchObject({
    status: 200,
    body: { path, size: content.length, sha256: createHash('sha256').update(content).digest('hex') },
  })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const read = await open('GET', filesAt(path), { headers: { 'want-repr-digest': 'sha-256=1' } })
  expect(read.headers.get('content-length')).toBe(String(content.length))
  expect(read.headers.get('repr-digest')).toBe(formatDigest(content))
  expect(read.headers.get('content-type')).toBe('application/octet-stream')
  expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
})

test('a file is replaced as a whole, with the rights that it had', async ({ call, open, driver }) => {
  await startGuest(call, driver)
  const folder = makeGuestFolder()
  const path = join(folder, 'config')
  writeFileSync(path, 'old', { mode: 0o640 })
  await put(open, filesAt(path), Buffer.from('new'))
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o640)
  await put(open, filesAt(join(folder, 'other')), Buffer.from('x'))
  expect(statSync(join(folder, 'other')).mode & 0o777).toBe(0o644)
})

test('a body with another digest, or an agent that fails, leaves what was there', async ({ call, open, driver }) => {
  const fake = await startGuest(call, driver)
  const folder = makeGuestFolder()
  const path = join(folder, 'config')
  writeFileSync(path, 'old')
  const wrong = await put(open, filesAt(path), Buffer.from('new'), {
    'repr-digest': formatDigest(Buffer.from('other')),
  })
  expect(wrong).toMatchObject({ status: 400, body: { message: expect.stringContaining('SHA-256') } })
  let writes = 0
  fake.faults.reply = command =>
    command === 'guest-file-write' && (writes += 1) === 2
      ? '{"error": {"class": "GenericError", "desc": "No space left on device"}}\n'
      : undefined
  const failed = await put(open, filesAt(path), randomBytes(1_000_000))
  expect(failed).toMatchObject({ status: 502, body: { message: expect.stringContaining('No space left') } })
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['config'])
})

test('what is no file is refused', async ({ call, open, driver }) => {
  await startGuest(call, driver)
  const folder = makeGuestFolder()
  mkdirSync(join(folder, 'folder'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const get = (name: string) => call('GET', filesAt(join(folder, name)))
  expect(await get('missing')).toMatchObject({ status: 404 })
  expect(await get('folder')).toMatchObject({ status: 409, body: { message: expect.stringContaining('folder') } })
  expect(await get('pipe')).toMatchObject({ status: 409, body: { message: expect.stringContaining('pipe') } })
  expect(await put(open, filesAt(join(folder, 'pipe')), Buffer.from('x'))).toMatchObject({ status: 409 })
  expect(await put(open, filesAt(join(folder, 'folder')), Buffer.from('x'))).toMatchObject({ status: 409 })
  expect(await put(open, filesAt(join(folder, 'no', 'such')), Buffer.from('x'))).toMatchObject({ status: 404 })
  for (const path of ['relative', '', '/a\0b']) expect(await call('GET', filesAt(path))).toMatchObject({ status: 400 })
  expect(await put(open, filesAt('/tmp/x', '&mode=999'), Buffer.from('x'))).toMatchObject({ status: 400 })
  expect(await put(open, filesAt('/tmp/x'), Buffer.from('x'), { 'repr-digest': 'md5=:AA==:' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('sha-256') },
  })
})

test('a file without a size is read to its end', async ({ call, driver }) => {
  await startGuest(call, driver)
  const read = await call('GET', filesAt('/proc/version'))
  expect(read.headers.has('content-length')).toBe(false)
  expect(String(read.body)).toBe(readFileSync('/proc/version', 'utf8'))
})

test('a reader who goes away leaves no file open in the guest', async ({ call, open, driver }) => {
  const fake = await startGuest(call, driver)
  const path = join(makeGuestFolder(), 'big')
  writeFileSync(path, randomBytes(3_000_000))
  const response = await open('GET', filesAt(path))
  const reader = response.body!.getReader()
  await reader.read()
  await reader.cancel()
  await until(async () => expect(fake.commands).toContain('guest-file-close'))
})

test('a file that shrinks while it is read breaks the reply off', async ({ call, open, driver }) => {
  await startGuest(call, driver)
  const path = join(makeGuestFolder(), 'log')
  writeFileSync(path, randomBytes(3_000_000))
  const response = await open('GET', filesAt(path))
  writeFileSync(path, 'short')
  await expect(response.arrayBuffer()).rejects.toThrow(/changed|terminated/)
})

test('files of a machine of another user need the rights of commands', async ({ call, open, driver }) => {
  await startGuest(call, driver)
  expect(await call('GET', filesAt('/etc/hostname'), { as: ['other', 'LIST_VM'] })).toMatchObject({ status: 403 })
  expect(await call('GET', filesAt('/etc/hostname'), { as: ['other', 'EXECUTE_COMMAND_VM'] })).toMatchObject({
    status: 200,
  })
  const refused = await open('PUT', filesAt('/tmp/x'), { as: ['other', 'LIST_VM'], body: Buffer.from('x') })
  expect(refused.status).toBe(403)
})
