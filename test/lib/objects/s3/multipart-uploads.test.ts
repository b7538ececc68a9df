import { createFetcher } from '#lib/objects/http/send.ts'
import { createHash, randomBytes } from 'node:crypto'
import { http, HttpResponse } from 'msw'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createS3 } from '#lib/objects/s3/s3.ts'
import { createTestSource } from '../../../contracts/provider.ts'
import { failure, faultyNetwork } from '../../../support/storage-faults.ts'

const MiB = 1024 * 1024
const url = 'https://s3.example.test/packs'

const hash = (algorithm: string, bytes: Buffer): string => createHash(algorithm).update(bytes).digest('hex')
const said = (code: string): string => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
const status = (code: number, word: string) => () => new HttpResponse(said(word), { status: code })

const { network } = faultyNetwork()
let s3: Provider
beforeEach(async () => {
  const meta = { bucket: 'packs', endpoint: 'https://s3.example.test', access_key: 'A', secret_key: 'S' }
  s3 = await createS3({ type: 'minio', meta }, createFetcher)
})

describe('a multipart upload', () => {
  const bytes = randomBytes(20 * MiB)
  const sha256 = hash('sha256', bytes)
  const parts = [bytes.subarray(0, 8 * MiB), bytes.subarray(8 * MiB, 16 * MiB), bytes.subarray(16 * MiB)]
  const uploadId = 'upload&1'

  /** A bucket with the parts of an earlier upload: `there` are their ETags. `records` are the upload records by their keys. */
  const bucketWith = (
    there: readonly string[],
    complete: readonly (() => Response)[],
    records: Readonly<Record<string, { readonly text: string; readonly at: string }>> = {},
  ) => {
    const seen: string[] = []
    let completed = 0
    const record = /\/packs\/\.vmhost-uploads\//
    network.use(
      http.all(`${url}*`, ({ request }) => {
        const { pathname, searchParams: query } = new URL(request.url)
        const what = [request.method, record.test(pathname) ? 'record' : pathname.slice(7), query.get('partNumber')]
        seen.push(what.filter(Boolean).join(' '))
        if (query.has('list-type')) {
          const found = Object.entries(records).filter(([key]) => key.startsWith(query.get('prefix')!))
          const contents = found.map(
            ([key, { at }]) => `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`,
          )
          return HttpResponse.xml(`<ListBucketResult>${contents.join('')}</ListBucketResult>`)
        }
        if (query.has('uploads'))
          return HttpResponse.xml(
            `<R>${[
              ['a', 'old', '2020-01-01T00:00:00.000Z'],
              ['a', 'new', new Date().toISOString()],
              ['ab', 'other', '2020-01-01T00:00:00.000Z'],
            ]
              .map(
                ([key, id, time]) =>
                  `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${time}</Initiated></Upload>`,
              )
              .join('')}</R>`,
          )
        if (request.method === 'DELETE') {
          seen.push(`end ${query.get('uploadId') ?? 'record'}`)
          return new HttpResponse(null, { status: 204 })
        }
        const kept = records[pathname.slice('/packs/'.length)]
        if (kept) return new HttpResponse(kept.text)
        if (record.test(pathname)) return new HttpResponse(`${uploadId}\na`)
        expect(query.get('uploadId') ?? uploadId).toBe(uploadId)
        if (request.method === 'GET')
          return HttpResponse.xml(
            `<R>${there.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>&quot;${etag}&quot;</ETag></Part>`).join('')}</R>`,
          )
        if (request.method === 'PUT')
          return new HttpResponse(null, { headers: { etag: `"sent-${query.get('partNumber')}"` } })
        if (request.method === 'HEAD') return new HttpResponse(null, { headers: { 'x-amz-meta-sha256': sha256 } })
        completed += 1
        return complete[Math.min(completed, complete.length) - 1]!()
      }),
    )
    return seen
  }
  const done = () => HttpResponse.xml('<CompleteMultipartUploadResult/>')
  const sentParts = (seen: readonly string[]): string[] => seen.filter(what => /^PUT a \d/.test(what)).sort()

  test('sends missing parts, and parts with another checksum', async () => {
    const seen = bucketWith([hash('md5', parts[0]!), hash('md5', randomBytes(9))], [done])
    await s3.write('a', createTestSource(bytes), { sha256 })
    expect(sentParts(seen)).toEqual(['PUT a 2', 'PUT a 3'])
    expect(seen.slice(seen.indexOf('POST a')).slice(0, 3)).toEqual(['POST a', 'DELETE record', 'end record'])
  })

  const endsIn = (seen: readonly string[]): string[] => seen.filter(what => what.startsWith('end '))

  test('aborts all uploads of the same object, and of no other', async () => {
    const seen = bucketWith([], [done])
    await s3.write('a', createTestSource(bytes), { sha256 })
    expect(endsIn(seen)).toEqual(['end record', 'end old', 'end new'])
    const removing = bucketWith([], [])
    await s3.remove('a')
    expect(endsIn(removing).sort()).toEqual(['end new', 'end old', 'end record'])
  })

  test('aborts abandoned uploads of all objects, also of a record without an upload id', async () => {
    const getRecordKey = (key: string): string => `.vmhost-uploads/${hash('sha256', Buffer.from(key))}/${sha256}`
    const seen = bucketWith([], [done], {
      [getRecordKey('ab')]: { text: '\nab', at: '2020-01-01T00:00:00.000Z' },
      [getRecordKey('ac')]: { text: 'this\nac', at: new Date().toISOString() },
    })
    await s3.write('a', createTestSource(bytes), { sha256 })
    expect(endsIn(seen).slice(0, 2)).toEqual(['end other', 'end record'])
    expect(seen.filter(what => what === 'DELETE record')).toHaveLength(2)
  })

  test('is completed again after a reply with status 200 and an error', async () => {
    const failed = () => HttpResponse.xml(said('InternalError'))
    const seen = bucketWith([], [failed, done])
    await s3.write('a', createTestSource(bytes), { sha256 })
    expect(seen.filter(what => what === 'POST a')).toHaveLength(2)
  })

  test('succeeds when the reply to its completion was lost', async () => {
    bucketWith([], [status(500, 'InternalError'), status(404, 'NoSuchUpload')])
    await s3.write('a', createTestSource(bytes), { sha256 })
  })

  test('is aborted and not completed when the bytes do not match their SHA-256', async () => {
    const seen = bucketWith([], [done])
    const other = hash('sha256', randomBytes(9))
    expect(await failure(s3.write('a', createTestSource(bytes), { sha256: other }))).toMatchObject({
      fault: 'conflict',
    })
    expect(seen).not.toContain('POST a')
    expect(seen).toContain(`end ${uploadId}`)
  })

  test('stays for a later attempt when S3 fails', async () => {
    const seen = bucketWith([], [status(400, 'InvalidPart')])
    expect(await failure(s3.write('a', createTestSource(bytes), { sha256 }))).toMatchObject({ fault: 'upstream' })
    expect(seen).not.toContain(`end ${uploadId}`)
  })

  test('the clean-up removes its record and aborts all uploads of the object', async () => {
    const record = `.vmhost-uploads/${hash('sha256', Buffer.from('a'))}/${sha256}`
    const seen = bucketWith([], [], { [record]: { text: `${uploadId}\na`, at: new Date().toISOString() } })
    await s3.cleanUpUploads!('a')
    expect(seen.filter(one => one.startsWith('end')).toSorted()).toEqual(['end new', 'end old', 'end record'])
  })
})
