import { randomBytes } from 'node:crypto'
import { http, HttpResponse } from 'msw'
import { describe, expect, test } from 'vitest'
import { providerContract } from '../../../contracts/provider.ts'
import { hex, key, openArtifactory, root, useArtifactory } from '../../../support/servers/artifactory.ts'

const server = useArtifactory()
const source = (bytes: Buffer) => ({ size: bytes.length, read: () => new Blob([new Uint8Array(bytes)]).stream() })

describe('an Artifactory that replies as documented', () => {
  providerContract(openArtifactory, openArtifactory, 1024 * 1024, { resume: 'starts again' })

  test('does not send bytes that the server already has', async () => {
    const provider = await openArtifactory()
    const bytes = randomBytes(100_000)
    const sha256 = hex('sha256', bytes)
    await provider.write('a', source(bytes), { sha256 })
    expect(server.seen.map(({ method, headers }) => [method, headers.get('x-checksum-deploy')])).toEqual([
      ['PUT', 'true'],
      ['PUT', null],
    ])
    server.seen.length = 0
    const progress: number[] = []
    await provider.write('b', source(bytes), { sha256, onProgress: done => void progress.push(done) })
    expect(server.seen.map(({ headers }) => headers.get('content-length') ?? '0')).toEqual(['0'])
    expect(progress).toEqual([bytes.length])
    expect(await provider.stat('b')).toMatchObject({ sha256, md5: hex('md5', bytes), size: bytes.length })
  })

  test.each([
    [{ access_key: key }, { 'x-jfrog-art-api': key }],
    [{ username: 'ä', password: 'p:w' }, { authorization: `Basic ${Buffer.from('ä:p:w').toString('base64')}` }],
  ])('sends its credentials: %j', async (meta, expected) => {
    await (await openArtifactory(meta)).stat('a')
    expect(Object.fromEntries(server.seen[0]!.headers)).toMatchObject(expected)
  })

  test('refuses a range that the object does not have', async () => {
    const provider = await openArtifactory()
    await provider.write('a', source(Buffer.from('four')))
    for (const range of [
      { start: 1, end: 1 },
      { start: -1, end: 2 },
      { start: 2, end: 9 },
    ])
      await expect(provider.read('a', { range })).rejects.toMatchObject({ fault: 'invalid' })
  })

  test('does not take a folder for an object, and removes none', async () => {
    const provider = await openArtifactory()
    await provider.write('folder/precious', source(Buffer.from('x')))
    expect(await provider.stat('folder')).toBeUndefined()
    await expect(provider.read('folder')).rejects.toMatchObject({ fault: 'not-found' })
    await provider.remove('folder')
    expect([...server.objects.keys()]).toEqual(['folder/precious'])
  })

  test('lists folder by folder when the edition of the server has no list of files', async () => {
    server.isPro = false
    const response = (href: string, kind: string) =>
      `<D:response><D:href>${href}</D:href><D:propstat><D:prop>${kind}</D:prop></D:propstat></D:response>`
    const file = '<D:resourcetype/><D:getcontentlength>3</D:getcontentlength>'
    server.network.use(
      http.all(`${root}*`, ({ request }) => {
        const { pathname } = new URL(request.url)
        const members =
          pathname === '/artifactory/generic/'
            ? response(`${pathname}a%20b/`, '<D:resourcetype><D:collection/></D:resourcetype>') +
              response('/artifactory/elsewhere/c', file)
            : response(`${pathname}x&amp;y`, file) + response(`${pathname}..%2Fz`, file)
        const self = response(pathname, '<D:resourcetype><D:collection/></D:resourcetype>')
        return new HttpResponse(`<D:multistatus>${self}${members}</D:multistatus>`, { status: 207 })
      }),
    )
    const listed = []
    for await (const object of (await openArtifactory()).list('')) listed.push(object)
    expect(listed).toEqual([{ path: 'a b/x&y', size: 3 }])
  })
})
