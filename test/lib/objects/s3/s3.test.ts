import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Storage } from '#lib/objects/port/connection.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { createSelfSigned } from '#lib/platform/self-signed.ts'
import { readBytes, providerContract, createTestSource } from '../../../contracts/provider.ts'
import { countingFetcher } from '../../../support/counting-fetcher.ts'
import { type S3Server, startS3Server, withoutS3 } from '../../../support/servers/s3-server.ts'
import { outlastIdle } from '../../../support/silence.ts'

const MiB = 1024 * 1024

const hash = (algorithm: string, bytes: Buffer): string => createHash(algorithm).update(bytes).digest('hex')

const storageAt = ({ endpoint, accessKey, secretKey }: S3Server, bucket: string, more = {}): Storage => ({
  type: 'minio',
  meta: { bucket, endpoint, access_key: accessKey, secret_key: secretKey, ...more },
})

describe.skipIf(withoutS3)('S3, against versitygw (left out where neither it nor Go is installed)', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await startS3Server()
  }, 600_000)
  afterAll(() => server[Symbol.asyncDispose]())

  const { fetcher, sent } = countingFetcher(createFetcher())
  let last = ''
  const again = () => createS3(storageAt(server, last), () => fetcher)
  const open = async () => {
    last = await server.newBucket()
    return again()
  }
  providerContract(open, again, 8 * MiB, { resume: 'reads all', sent })

  /** A bucket with its name and a provider on it. */
  const fresh = async () => {
    const bucket = await server.newBucket()
    return { bucket, s3: await createS3(storageAt(server, bucket), () => fetcher) }
  }

  test('gives the MD5 when S3 has it', async () => {
    const { s3 } = await fresh()
    const [small, large] = [randomBytes(1_000), randomBytes(9 * MiB)]
    await s3.write('small', createTestSource(small), { sha256: hash('sha256', small) })
    await s3.write('large', createTestSource(large), { sha256: hash('sha256', large) })
    const [first, second] = [await s3.stat('small'), await s3.stat('large')]
    expect(first).toMatchObject({ md5: hash('md5', small) })
    expect(second?.md5).toBeUndefined()
  })

  test('removes many objects in one request, also missing ones', async () => {
    const { s3 } = await fresh()
    const names = ['plain', 'with & and <', "it's"].map(name => `many/${name}`)
    for (const name of [...names, 'stays']) await s3.write(name, createTestSource(Buffer.from('x')))
    await s3.removeMany!([...names, 'many/never'])
    const left: string[] = []
    for await (const { path } of s3.list('')) left.push(path)
    expect(left).toEqual(['stays'])
  })

  test('lists several pages, and only objects', async () => {
    const { s3, bucket } = await fresh()
    const names = Array.from({ length: 1_203 }, (_, at) => `many/${String(at).padStart(4, '0')}`)
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map(name => s3.write(name, createTestSource(Buffer.from('x')))))
    expect((await server.call('PUT', `${bucket}/marker/`)).status).toBe(200)
    await expect(
      s3.write('cut', createTestSource(randomBytes(20 * MiB), 9 * MiB), { sha256: 'a'.repeat(64) }),
    ).rejects.toThrow('cut')
    const found: string[] = []
    for await (const { path } of s3.list('')) found.push(path)
    expect(found.sort()).toEqual(names)
  })

  test('leaves nothing of a write that cannot be resumed', async () => {
    const { s3, bucket } = await fresh()
    const bytes = randomBytes(20 * MiB)
    await expect(s3.write('a', createTestSource(bytes, 17 * MiB))).rejects.toThrow('cut')
    await expect(s3.write('a', createTestSource(bytes), { sha256: 'a'.repeat(64) })).rejects.toMatchObject({
      fault: 'conflict',
    })
    expect(await (await server.call('GET', `${bucket}?uploads=`)).text()).not.toContain('<Upload>')
    expect(await (await server.call('GET', `${bucket}?list-type=2`)).text()).not.toContain('<Key>')
  })

  test('aborts uploads of an object when other bytes of it are written and when it is removed', async () => {
    const { s3, bucket } = await fresh()
    const [bytes, other] = [randomBytes(20 * MiB), randomBytes(9 * MiB)]
    const begin = () =>
      expect(s3.write('a', createTestSource(bytes, 17 * MiB), { sha256: hash('sha256', bytes) })).rejects
    const left = async (): Promise<string> =>
      (await (await server.call('GET', `${bucket}?uploads=`)).text()) +
      (await (await server.call('GET', `${bucket}?list-type=2`)).text())
    await begin().toThrow('cut')
    expect(await left()).toMatch(/<Upload>[^]*<Key>.vmhost-uploads/)
    await s3.write('a', createTestSource(other), { sha256: hash('sha256', other) })
    expect(await left()).not.toMatch(/<Upload>|vmhost-uploads/)
    await begin().toThrow('cut')
    await s3.remove('a')
    expect(await left()).not.toMatch(/<Upload>|<Key>/)
  })

  test('waits for a slow reader', async () => {
    const bucket = await server.newBucket()
    const bytes = randomBytes(20 * MiB)
    const s3 = await createS3(storageAt(server, bucket), () => createFetcher({ idleTimeout: 200 }))
    await s3.write('a', createTestSource(bytes))
    const stream = await s3.read('a')
    await outlastIdle(200, 2)
    expect((await readBytes(stream)).equals(bytes)).toBe(true)
  })

  test.each([
    ['a wrong secret', { secret_key: 'not-the-secret' }, 'refused the credentials'],
    ['a wrong key', { access_key: 'not-the-key' }, '404 XAdminUserNotFound'],
    ['no such bucket', { bucket: 'no-such-bucket' }, 'bucket'],
  ])('%s', async (_, more, words) => {
    const s3 = await createS3(storageAt(server, await server.newBucket(), more), () => fetcher)
    for (const ask of [
      () => s3.stat('a'),
      () => s3.read('a'),
      () => s3.write('a', createTestSource(Buffer.from('x'))),
      () => s3.write('a', createTestSource(Buffer.alloc(9 * MiB))),
      () => s3.list('')[Symbol.asyncIterator]().next(),
    ])
      await expect(ask()).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringMatching(new RegExp(`^(?!.*(not-the|${server.secretKey})).*${words}`)),
      })
  })

  test('uses the credentials of the environment', async () => {
    const bucket = await server.newBucket()
    const meta = { bucket, endpoint: server.endpoint, use_environment_authentication: 'true' }
    const environment = { AWS_ACCESS_KEY_ID: server.accessKey, AWS_SECRET_ACCESS_KEY: server.secretKey }
    const s3 = await createS3({ type: 'minio', meta }, createFetcher, environment)
    await s3.write('a', createTestSource(Buffer.from('x')))
    expect(await s3.stat('a')).toMatchObject({ size: 1 })
    await expect(createS3({ type: 'minio', meta }, createFetcher)).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining('EC2'),
    })
  })

  test('refuses a self-signed certificate, unless the connection ignores certificates', async () => {
    const certificate = await createSelfSigned(['127.0.0.1'])
    await using secure = await startS3Server(certificate)
    const bucket = 'packs'
    const careful = await createS3(storageAt(secure, bucket, { use_ssl: 'true' }), createFetcher)
    await expect(careful.stat('a')).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('certificate'),
    })
    const careless = await createS3(storageAt(secure, bucket, { use_ssl: 'true', ignore_cert: 'true' }), createFetcher)
    await expect(careless.stat('a')).rejects.toMatchObject({ message: expect.stringContaining('bucket') })
  })
})
