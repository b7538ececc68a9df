import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { buildIsoImage } from '../../support/disks/iso-image.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { type Call, test as base } from '../../support/harness.ts'
import { type FileServer, rangesOf, startFileServer, wholeOf } from '../../support/servers/file-server.ts'

const MB = 2 ** 20
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A raw disk: random content, then zeros. */
const disk = Buffer.concat([randomBytes(3 * MB), Buffer.alloc(MB)])

const test = base.extend<{ server: FileServer; imageFolder: string; imageMaxSize: number }>({
  server: async ({ network }, use) => {
    // Nothing may intercept the connections to this server.
    network.close()
    await using server = await startFileServer()
    await use(server)
    network.listen()
  },
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  imageMaxSize: async ({}, use) => use(8 * MB),
  imageFolder: async ({ folder }, use) => use(join(folder, 'state', 'images')),
})

const pull = (call: Call, body: object) => call('POST', '/api/v1/images', { body })
/** What is in the folder of images beside finished ones. */
const listWork = (folder: string): string[] => ['work', 'uploads'].flatMap(name => readdirSync(join(folder, name)))
const listFiles = (folder: string): string[] => readdirSync(folder).filter(name => /\.(qcow2|iso)$/.test(name))

describe.skipIf(withoutQemu)('a pull of an image', () => {
  test('verifies it, stores it as qcow2, and tells of it', async ({ call, server, imageFolder, defects }) => {
    server.serve('/disk.img', rangesOf(disk))
    const { status, body } = await pull(call, {
      name: 'Debian',
      url: `${server.url.replace('//', '//user:secret@')}/disk.img?token=secret`,
      sha256: sha256(disk).toUpperCase(),
      description: 'A system',
      firmware: 'uefi',
    })
    expect(defects).toEqual([])
    expect(body).toEqual({
      id: expect.any(String),
      name: 'Debian',
      kind: 'disk',
      description: 'A system',
      source_url: `${server.url}/disk.img`,
      format: 'raw',
      sha256: sha256(disk),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      virtual_size: disk.length,
      size: expect.any(Number),
      firmware: 'uefi',
      created_at: expect.any(String),
      created_by: '00000000-0000-4000-8000-0000000000aa',
    })
    expect(status).toBe(201)
    const path = join(imageFolder, `${body.digest}.qcow2`)
    expect(sha256(readFileSync(path))).toBe(body.digest)
    expect(statSync(path).mode & 0o777).toBe(0o400)
    expect(listWork(imageFolder)).toEqual([])
    expect((await call('GET', '/api/v1/images')).body).toEqual([body])
    for (const reference of ['debian', body.id, body.digest, body.sha256.toUpperCase()])
      expect((await call('GET', `/api/v1/images/${reference}`)).body).toEqual(body)
    expect((await call('GET', '/api/v1/images', { headers: { 'x-filter': 'name=^none' } })).body).toEqual([])
    const { events } = (await call('GET', '/api/v1/events')).body
    const added = events.find(({ message }: { message: string }) => message === 'IMAGE_ADDED')
    expect(added.body).toMatchObject({ image_id: body.id, name: 'Debian', digest: body.digest })
    const [job] = (await call('GET', '/api/v1/jobs')).body
    expect(JSON.stringify(job)).not.toContain('secret')
  })

  const refusals: readonly (readonly [
    name: string,
    path: string,
    status: number,
    message: RegExp,
    prepare: (server: FileServer) => object,
  ])[] = [
    [
      'another digest',
      '/disk.img',
      502,
      /has the SHA-256 [0-9a-f]{64} and not 0{64}/,
      server => {
        server.serve('/disk.img', rangesOf(disk))
        return { sha256: '0'.repeat(64) }
      },
    ],
    ['a file that is not there', '/none.img', 502, /answered 404/, () => ({})],
    [
      'a redirect to a private address',
      '/away.img',
      403,
      /The host 10\.0\.0\.1 has no address to which this service may connect/,
      server => {
        server.serve('/away.img', (_, response) => response.writeHead(302, { Location: 'http://10.0.0.1/disk' }).end())
        return {}
      },
    ],
    [
      'a redirect to the metadata service',
      '/meta.img',
      403,
      /169\.254\.169\.254/,
      server => {
        const Location = 'http://169.254.169.254/latest/meta-data/'
        server.serve('/meta.img', (_, response) => response.writeHead(307, { Location }).end())
        return {}
      },
    ],
    [
      'a redirect to a file of the host',
      '/file.img',
      502,
      /redirects to file:\/\//,
      server => {
        server.serve('/file.img', (_, response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end())
        return {}
      },
    ],
    [
      'redirects without an end',
      '/loop.img',
      502,
      /redirects more than 10 times/,
      server => {
        server.serve('/loop.img', (_, response) => response.writeHead(301, { Location: '/loop.img' }).end())
        return {}
      },
    ],
    [
      'a body without an end',
      '/endless.img',
      413,
      /more than 8388608 bytes/,
      server => {
        server.serve('/endless.img', (_, response) => {
          const send = setInterval(() => void response.write(Buffer.alloc(MB)), 5)
          response.once('close', () => clearInterval(send))
        })
        return {}
      },
    ],
    [
      'a length above the maximum',
      '/large.img',
      413,
      /more than 8388608 bytes/,
      server => {
        server.serve('/large.img', wholeOf(Buffer.alloc(9 * MB)))
        return {}
      },
    ],
    [
      'a format that is not read',
      '/disk.vdi',
      400,
      /vdi/i,
      server => {
        const vdi = Buffer.alloc(MB)
        vdi.write('\x7f\x10\xda\xbe', 64, 'latin1')
        server.serve('/disk.vdi', rangesOf(vdi))
        return {}
      },
    ],
    [
      'a qcow2 image that names a file of the host',
      '/hostile.qcow2',
      400,
      /backing|builds on|another/i,
      server => {
        const header = Buffer.alloc(MB)
        header.write('QFI\xfb', 0, 'latin1')
        header.writeUInt32BE(3, 4)
        header.writeBigUInt64BE(112n, 8)
        header.writeUInt32BE(11, 16)
        header.writeUInt32BE(16, 20)
        header.writeBigUInt64BE(BigInt(MB), 24)
        header.write('/etc/passwd', 112)
        server.serve('/hostile.qcow2', rangesOf(header))
        return {}
      },
    ],
  ]
  for (const [name, path, status, message, prepare] of refusals)
    test(`of ${name} is refused and leaves nothing`, async ({ call, server, imageFolder, defects }) => {
      const request = prepare(server)
      const reply = await pull(call, { name: 'bad', url: server.url + path, ...request })
      expect(reply.body.message).toMatch(message)
      expect([reply.status, defects]).toEqual([status, []])
      expect([listFiles(imageFolder), listWork(imageFolder)]).toEqual([[], []])
      expect((await call('GET', '/api/v1/images')).body).toEqual([])
    })

  test('goes on where the connection was cut', async ({ call, server }) => {
    server.serve('/disk.img', rangesOf(disk, { cutAfter: 1.5 * MB }))
    const { status, body } = await pull(call, { name: 'cut', url: `${server.url}/disk.img`, sha256: sha256(disk) })
    expect([status, body.sha256]).toEqual([201, sha256(disk)])
    const ranges = server.requests.map(({ range }) => range)
    expect(ranges[0]).toBeUndefined()
    expect(ranges[1]).toMatch(/^bytes=[1-9]\d{5,}-$/)
    expect(server.requests[1]!.ifRange).toBe('"one"')
  })

  test('begins again when the file has changed, or when the server has no ranges', async ({ call, server }) => {
    const next = randomBytes(2 * MB)
    let requests = 0
    server.serve('/disk.img', (request, response) => {
      requests += 1
      // The first connection brings a part of another version.
      if (requests === 1) rangesOf(randomBytes(2 * MB), { etag: '"old"', cutAfter: MB })(request, response)
      else rangesOf(next, { etag: '"new"' })(request, response)
    })
    const changed = await pull(call, { name: 'changed', url: `${server.url}/disk.img`, sha256: sha256(next) })
    expect([changed.status, changed.body.sha256]).toEqual([201, sha256(next)])

    // A server that answers a range of another version, although it was told not to.
    let asked = 0
    server.serve('/lying.img', ({ headers }, response) => {
      asked += 1
      const bytes = asked === 1 ? randomBytes(2 * MB) : next
      const start = asked === 2 ? Number(headers.range?.replace(/\D/g, '')) : 0
      const etag = asked === 1 ? '"old"' : '"new"'
      response.writeHead(start > 0 ? 206 : 200, {
        ETag: etag,
        'Content-Length': bytes.length - start,
        ...(start > 0 && { 'Content-Range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
      })
      if (asked === 1) response.write(bytes.subarray(0, MB), () => setTimeout(() => response.destroy(), 20))
      else response.end(bytes.subarray(start))
    })
    const lying = await pull(call, { name: 'lying', url: `${server.url}/lying.img` })
    expect([lying.status, lying.body.sha256]).toEqual([201, sha256(next)])

    let times = 0
    server.serve('/whole.img', (request, response) => {
      times += 1
      if (times > 1) return wholeOf(disk)(request, response)
      response.writeHead(200, { 'Content-Length': disk.length })
      response.write(disk.subarray(0, MB), () => setTimeout(() => response.destroy(), 20))
    })
    const whole = await pull(call, { name: 'whole', url: `${server.url}/whole.img` })
    expect([whole.status, whole.body.sha256]).toEqual([201, sha256(disk)])
    expect(server.requests.filter(({ path }) => path === '/whole.img').map(({ range }) => range)).toEqual([
      undefined,
      undefined,
    ])
  })

  test('takes the digest of a file of checksums', async ({ call, server }) => {
    server.serve('/a/disk.img', rangesOf(disk))
    const sums = (text: string): void =>
      server.serve('/a/SHA256SUMS', (_, response) => response.writeHead(200).end(text))
    const request = { url: `${server.url}/a/disk.img?x=1`, checksums_url: `${server.url}/a/SHA256SUMS` }
    sums(`${'1'.repeat(64)}  other.img\n${sha256(disk)} *disk.img\n`)
    expect((await pull(call, { ...request, name: 'one' })).status).toBe(201)
    sums(`SHA256 (disk.img) = ${sha256(disk)}\n`)
    expect((await pull(call, { ...request, name: 'two' })).status).toBe(201)
    sums(`${'1'.repeat(64)}  disk.img\n`)
    const wrong = await pull(call, { ...request, name: 'three' })
    expect([wrong.status, wrong.body.message]).toEqual([502, expect.stringMatching(/and not 1{64}/)])
    sums(`${sha256(disk)}  disk.img.sig\n`)
    const absent = await pull(call, { ...request, name: 'four' })
    expect([absent.status, absent.body.message]).toEqual([502, expect.stringMatching(/no SHA-256 of disk\.img/)])
  })

  test('of an ISO image keeps the file as it is', async ({ call, server, imageFolder }) => {
    const iso = buildIsoImage(20)
    server.serve('/cd.iso', rangesOf(iso))
    const { body, status } = await pull(call, { name: 'cd', url: `${server.url}/cd.iso` })
    expect(body).toMatchObject({ kind: 'iso', format: 'iso', digest: sha256(iso), sha256: sha256(iso) })
    expect([status, listFiles(imageFolder)]).toEqual([201, [`${sha256(iso)}.iso`]])
  })

  test('needs a free name, in any case', async ({ call, server }) => {
    server.serve('/disk.img', rangesOf(disk))
    const request = { name: 'Same', url: `${server.url}/disk.img` }
    const both = await Promise.all([pull(call, request), pull(call, { ...request, name: 'SAME' })])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
    expect((await pull(call, { ...request, name: 'same' })).body.message).toMatch(
      /There is an image with the name same/,
    )
  })

  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /url: must be an address/],
    [{ url: 'ftp://a/b' }, /must be an address with http/],
    [{ url: 'http://a/b', upload: true }, /one of the two/],
    [{ upload: true }, /sha256: must be the digest/],
    [
      { url: 'http://a/b', sha256: '1', colour: 'red' },
      /colour: not known here.*64 hexadecimal|64 hexadecimal.*colour/,
    ],
    [{ url: 'http://a/b', sha256: '0'.repeat(64), checksums_url: 'http://a/c' }, /sha256 must be left out/],
    [{ url: 'http://a/%zz', checksums_url: 'http://a/c' }, /a % of its path/],
    [{ url: 'http://a/b', name: 'a/b' }, /name: must not contain/],
    [{ url: 'http://a/b', name: '0'.repeat(64) }, /must not look like a digest/],
  ]
  for (const [body, message] of wrong)
    test(`of ${JSON.stringify(body).slice(0, 60)} is no request`, async ({ call }) => {
      const reply = await pull(call, { name: 'x', ...body })
      expect([reply.status, reply.body.message]).toEqual([400, expect.stringMatching(message)])
    })

  test('needs CREATE_IMAGE', async ({ call }) => {
    const body = { name: 'x', url: 'http://a/b' }
    expect((await call('POST', '/api/v1/images', { body, as: ['LIST_IMAGE'] })).status).toBe(403)
    expect((await call('GET', '/api/v1/images', { as: ['CREATE_IMAGE'] })).status).toBe(403)
    expect((await call('DELETE', '/api/v1/images/x', { as: ['CREATE_IMAGE', 'LIST_IMAGE'] })).status).toBe(403)
  })
})
