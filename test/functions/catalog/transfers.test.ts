import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { createDigest } from '#lib/packs/digest.ts'
import { writePackJournal } from '#lib/transfers/pack-journal.ts'
import { noProgress } from '#lib/async/progress.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'
import { at } from './packs.ts'

const local = 'provider=local-storage'
const place = at('demo', '1', 'x86_64')

const create = async (call: Call, name = 'source'): Promise<string> => {
  const { status, body } = await call('POST', '/api/v1/machines', {
    body: { name, cpus: 1, memory: 16, disks: [{ size: 1 }] },
  })
  expect(status).toBe(201)
  return body.id
}
const push = (call: Call, more: object = {}, query = ''): Promise<Answer> =>
  call('POST', `/api/v1/catalog/push${query}`, {
    body: { catalog_id: 'demo', version: '1', connection: local, uuid: 'source', ...more },
  })
const pull = (call: Call, more: object = {}): Promise<Answer> =>
  call('PUT', '/api/v1/catalog/pull', { body: { catalog_id: 'demo', version: '1', machine_name: 'copy', ...more } })
const leftovers = (folder: string): string[] => readdirSync(join(folder, 'state/transfers'))

describe('push and pull', () => {
  test('a pushed machine can be pulled as another one', async ({ call, folder }) => {
    const source = await create(call)
    const pushed = await push(call, {
      description: 'base',
      tags: ['ci'],
      compress_pack: true,
      minimum_requirements: { cpu: 2 },
    })
    expect(pushed.status).toBe(200)
    expect(pushed.body).toHaveLength(1)
    expect(pushed.body[0]).toMatchObject({
      catalog_id: 'demo',
      version: '1',
      architecture: 'x86_64',
      type: 'qemu',
      name: 'demo-x86_64-1',
      description: 'base',
      tags: ['ci', 'latest'],
      is_compressed: true,
      path: '/demo',
      pack_path: 'demo-x86_64-1.pdpack',
      metadata_path: 'demo-x86_64-1.meta',
      minimum_requirements: { cpu: 2, memory: 0, disk: 0 },
      provider: { type: 'local-storage', meta: {} },
      download_count: 0,
    })
    expect(pushed.body[0].pack_size).toBeGreaterThan(0)
    expect(readdirSync(join(folder, 'catalog/demo')).sort()).toEqual([
      'demo-x86_64-1.meta',
      'demo-x86_64-1.pdpack',
      'demo-x86_64-1.pdpack.pack.json',
    ])
    expect((await call('GET', place)).body).toEqual(pushed.body)
    expect(JSON.parse(readFileSync(join(folder, 'catalog/demo/demo-x86_64-1.meta'), 'utf8'))).toMatchObject({
      id: pushed.body[0].id,
    })

    const pulled = await pull(call, { start_after_pull: true, client: 'ignored', owner: 'x', path: '/x' })
    expect(pulled.status, pulled.body.message).toBe(200)
    expect(pulled.body).toMatchObject({
      id: pushed.body[0].id,
      catalog_id: 'demo',
      version: '1',
      architecture: 'x86_64',
      machine_name: 'copy',
      local_cache_path: expect.stringContaining('cache'),
      manifest: { name: 'demo-x86_64-1' },
    })
    expect(pulled.body.machine_id).not.toBe(source)
    expect(existsSync(pulled.body.local_path)).toBe(true)
    expect((await call('GET', '/api/v1/machines/copy/status')).body).toMatchObject({ status: 'running' })
    expect((await call('GET', place)).body[0]).toMatchObject({ download_count: 1, last_downloaded_user: 'tester' })
    expect(leftovers(folder)).toEqual([])
  })

  test('a push without minimum requirements takes those of the machine, and another push keeps what was chosen', async ({
    call,
  }) => {
    await create(call)
    expect((await push(call)).body[0].minimum_requirements).toEqual({ cpu: 1, memory: 16, disk: 1 })
    const chosen = { cpu: 4, memory: 0, disk: 0 }
    expect((await push(call, { minimum_requirements: { cpu: 4 } })).body[0].minimum_requirements).toEqual(chosen)
    expect((await push(call)).body[0].minimum_requirements).toEqual(chosen)
  })

  test('they run as jobs, also when the caller waits', async ({ call }) => {
    await create(call)
    await push(call)
    await pull(call)
    const { body } = await call('GET', '/api/v1/jobs')
    expect(body.map((job: { job_operation: string; state: string }) => [job.job_operation, job.state])).toEqual([
      ['pull', 'completed'],
      ['push', 'completed'],
    ])
    const begun = await call('POST', '/api/v1/catalog/push/async', {
      body: { catalog_id: 'demo', version: '2', connection: local, uuid: 'source' },
    })
    expect(begun).toMatchObject({ status: 202, body: { job_type: 'catalog', job_operation: 'push' } })
    await expect
      .poll(async () => (await call('GET', `/api/v1/jobs/${begun.body.id}`)).body)
      .toMatchObject({ state: 'completed', result_record_type: 'catalog_manifest' })
  })

  test('a push can name the machine by its folder, and no reply shows the secret of the connection', async ({
    call,
    folder,
    driver,
  }) => {
    const source = await create(call)
    const { home } = (await driver.get(source))!
    expect(
      (await push(call, { uuid: undefined, local_path: home, connection: `${local};access_key=very-secret-key` }))
        .status,
    ).toBe(200)
    for (const path of ['/api/v1/catalog', '/api/v1/jobs', '/api/v1/events'])
      expect(JSON.stringify((await call('GET', path)).body)).not.toContain('very-secret-key')
    for (const file of readdirSync(join(folder, 'catalog/demo')))
      expect(readFileSync(join(folder, 'catalog/demo', file), 'latin1')).not.toContain('very-secret-key')
  })

  test('a push of a running machine is refused, and the message says to stop it', async ({ call }) => {
    await create(call)
    await call('GET', '/api/v1/machines/source/start')
    const { status, body } = await push(call)
    expect(status).toBe(409)
    expect(body.message).toContain('running')
    expect((await call('GET', '/api/v1/catalog')).body).toEqual([])
  })

  test('with override_existing:false an existing manifest stays; else it is replaced', async ({
    call,
    folder,
    driver,
  }) => {
    const source = await create(call)
    const first = (await push(call)).body[0]
    expect((await push(call, { override_existing: false })).status).toBe(409)
    const again = (await push(call, { tags: ['again'] })).body[0]
    expect(again).toMatchObject({ id: first.id, pack_filename: first.pack_filename, tags: ['again', 'latest'] })
    const { home, definition } = (await driver.get(source))!
    writeFileSync(join(home, definition.disks[0]!.path), 'another disk')
    const other = (await push(call)).body[0]
    expect(other.id).toBe(first.id)
    expect(other.pack_filename).toMatch(/^demo-x86_64-1~[0-9a-f]{8}\.pdpack$/)
    // The replaced objects were removed.
    expect(readdirSync(join(folder, 'catalog/demo'))).toHaveLength(3)
    expect((await pull(call)).status).toBe(200)
  })

  test('a push that is repeated after a kill is not refused because of its own registration', async ({
    call,
    folder,
  }) => {
    await create(call)
    const [manifest] = (await push(call, { override_existing: false })).body
    expect((await push(call, { override_existing: false })).status).toBe(409)
    // The work folder that the killed push leaves.
    const pack = readFileSync(join(folder, 'catalog/demo', manifest.pack_filename))
    const digest = createDigest(pack.length)
    digest.update(pack)
    const name = JSON.stringify([manifest.name, 'local-storage', '{}'])
    const left = join(folder, 'state/transfers', `push-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`)
    mkdirSync(left)
    writeFileSync(join(left, 'pack'), pack)
    await writePackJournal(left, 'files', { file: join(left, 'pack'), digest: digest.end() })
    const again = await push(call, { override_existing: false })
    expect(again.status, again.body.message).toBe(200)
    expect(again.body[0]).toMatchObject({ id: manifest.id, pack_filename: manifest.pack_filename })
    expect(readdirSync(join(folder, 'catalog/demo'))).toHaveLength(3)
    expect(leftovers(folder)).toEqual([])
  })

  test('the upload of an interrupted push is removed when the machine has changed', async ({
    call,
    folder,
    driver,
  }) => {
    const source = await create(call)
    await push(call)
    const name = JSON.stringify(['demo-x86_64-1', 'local-storage', '{}'])
    const left = join(folder, 'state/transfers', `push-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`)
    mkdirSync(left)
    writeFileSync(join(left, 'pack'), 'earlier')
    const digest = createDigest(16)
    digest.update(Buffer.from('earlier'))
    const earlier = digest.end()
    await writePackJournal(left, 'files', { file: join(left, 'pack'), digest: earlier })
    const part = `.vmhost-demo-x86_64-1~${earlier.sha256.slice(0, 8)}.pdpack.${earlier.sha256}`
    writeFileSync(join(folder, 'catalog/demo', part), 'ear')
    const { home, definition } = (await driver.get(source))!
    writeFileSync(join(home, definition.disks[0]!.path), 'another disk')
    expect((await push(call)).status).toBe(200)
    expect(readdirSync(join(folder, 'catalog/demo'))).toHaveLength(3)
    expect(readdirSync(join(folder, 'catalog/demo'))).not.toContain(part)
  })

  test('another catalog is not asked without credentials', async ({ call }) => {
    for (const connection of ['host=https://a.example', 'host=https://a.example;username=me']) {
      const { status, body } = await pull(call, { connection })
      expect([status, body.message]).toEqual([400, expect.stringContaining('needs a user and a password')])
    }
  })

  test('a version that was revoked is not pushed again', async ({ call, folder }) => {
    await create(call)
    await push(call)
    await call('PATCH', `${place}/revoke`)
    const { status, body } = await push(call)
    expect([status, body.message]).toEqual([409, expect.stringContaining('was revoked')])
    expect(leftovers(folder)).toEqual([])
  })

  test.for(['bad/name', 'bad\nname', ' ', 'x'.repeat(129)])('no machine is pulled as %j', async (name, { call }) => {
    await create(call)
    await push(call)
    const { status, body } = await pull(call, { machine_name: name })
    expect([status, body.message]).toEqual([400, expect.stringContaining('machine_name')])
  })

  test('a changed pack is refused, and nothing remains', async ({ call, folder }) => {
    await create(call)
    const { pack_filename: name } = (await push(call)).body[0]
    const file = join(folder, 'catalog/demo', name)
    const bytes = readFileSync(file)
    bytes[700] = bytes[700]! ^ 1
    writeFileSync(file, bytes)
    const { status, body } = await pull(call)
    expect(status).toBe(502)
    expect(body.message).toContain('SHA-256')
    expect((await call('GET', '/api/v1/machines')).body).toHaveLength(1)
    expect(leftovers(folder)).toEqual([])
  })

  test.for([
    [{ connection: 'provider=ftp' }, 400, 'provider'],
    [{ connection: 'host=cat.example' }, 400, 'provider'],
    [{ connection: '' }, 400, 'connection'],
    [{ version: 'a b' }, 400, 'version'],
    [{ version: undefined }, 400, 'version'],
    [{ catalog_id: undefined }, 400, 'catalog_id'],
    [{ uuid: undefined }, 400, 'local_path'],
    [{ uuid: 'nobody' }, 404, 'nobody'],
    [{ uuid: undefined, local_path: '/nowhere' }, 400, '/nowhere'],
    [{ uuid: undefined, local_path: '/etc' }, 400, 'bundle'],
    [{ architecture: 'mips' }, 400, 'architecture'],
    [{ connection: 'host=u:p@cat.example;provider=local-storage' }, 400, 'local storage'],
  ] as const)('push refuses %j', async ([more, status, word], { call, folder }) => {
    await create(call)
    const answer = await push(call, more)
    expect(answer.status).toBe(status)
    expect(answer.body.message).toContain(word)
    expect(leftovers(folder)).toEqual([])
  })

  test.for([
    [{ machine_name: 'source' }, 409, 'source'],
    [{ machine_name: '' }, 400, 'machine_name'],
    [{ catalog_id: 'other' }, 404, 'other'],
    [{ version: '9' }, 404, '9'],
    [{ architecture: 'arm64' }, 404, 'arm64'],
  ] as const)('pull refuses %j', async ([more, status, word], { call, folder }) => {
    await create(call)
    await push(call)
    const answer = await pull(call, more)
    expect(answer.status).toBe(status)
    expect(answer.body.message).toContain(word)
    expect(leftovers(folder)).toEqual([])
  })

  test('a tainted, revoked or hidden manifest, or one of another type, is not pulled', async ({ call }) => {
    await create(call)
    await push(call, { required_claims: ['LAB'] })
    const puller = { as: ['PULL_CATALOG_MANIFEST'] }
    const request = { catalog_id: 'demo', machine_name: 'copy' }
    const pullAs = (as: string[]) => call('PUT', '/api/v1/catalog/pull', { as, body: request })
    expect((await pullAs(puller.as)).status).toBe(404)
    await call('PATCH', `${place}/taint`)
    expect((await pullAs(['PULL_CATALOG_MANIFEST', 'LAB'])).status).toBe(400)
    await call('PATCH', `${place}/untaint`)
    expect((await pullAs(['PULL_CATALOG_MANIFEST', 'LAB'])).status).toBe(200)
    await call('PATCH', `${place}/revoke`)
    expect((await pull(call, { machine_name: 'again' })).status).toBe(403)
  })

  test('all downloads of one job count once, also when the pull starts again', async ({ app, call }) => {
    await create(call)
    await push(call)
    const count = async (): Promise<number> => (await call('GET', place)).body[0].download_count
    const work = { ...noProgress, id: crypto.randomUUID() }
    const repeated = {
      operation: 'catalog/pull',
      caller: { id: work.id, username: 'tester', email: '', roles: [], claims: new Set<string>(), superUser: true },
      params: {},
      query: {},
      body: { catalog_id: 'demo', version: '1', machine_name: 'copy' },
    }
    await app.replay(repeated, work)
    await app.replay(repeated, work)
    expect(await count()).toBe(1)
    const jobs = Array.from({ length: 15 }, () => crypto.randomUUID())
    for (const job of [...jobs, ...jobs, work.id])
      expect((await call('GET', `${place}/download?job=${job}`)).body[0]).not.toHaveProperty('counted_jobs')
    expect(await count()).toBe(16)
    for (const query of ['', '', '?job=x']) await call('GET', `${place}/download${query}`)
    expect(await count()).toBe(18)
  })

  test('two pulls at the same time fetch the pack once, and both create a machine', async ({ call, folder }) => {
    await create(call)
    await push(call)
    const answers = await Promise.all(['a', 'b', 'c'].map(name => pull(call, { machine_name: name })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await call('GET', '/api/v1/machines')).body).toHaveLength(4)
    expect(leftovers(folder)).toEqual([])
  })
})

describe('trust', () => {
  test('a host that requires signatures does not pull an unsigned pack', async ({ call, trust }) => {
    await create(call)
    await push(call)
    trust.policy = 'require'
    const { status, body } = await pull(call)
    expect(status).toBe(403)
    expect(body.message).toContain('signed')
    trust.policy = 'warn'
    expect((await pull(call)).status).toBe(200)
  })
})

describe('import', () => {
  const importManifest = (call: Call, more: object = {}) =>
    call('PUT', '/api/v1/catalog/import', {
      body: { catalog_id: 'demo', version: '1', architecture: 'amd64', connection: local, ...more },
    })

  test('registers a pack of the provider with its description', async ({ call }) => {
    await create(call)
    await push(call, { description: 'base', tags: ['ci'], required_claims: ['LAB'] })
    expect((await importManifest(call)).status).toBe(409)
    await call('DELETE', `${place}?clean_remote=false`)
    const { status, body } = await importManifest(call)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: expect.any(String),
      local_path: '',
      machine_name: '',
      manifest: {
        description: 'base',
        tags: ['ci', 'latest'],
        required_claims: ['LAB'],
        type: 'qemu',
        pack_size: expect.any(Number),
      },
    })
    expect((await pull(call)).status).toBe(200)
    expect((await importManifest(call, { version: '2' })).status).toBe(404)
    expect(
      (await importManifest(call, { connection: 'host=a.example;provider=local-storage', version: '3' })).status,
    ).toBe(400)
  })

  const importVm = (call: Call, more: object = {}) =>
    call('PUT', '/api/v1/catalog/import-vm', {
      body: {
        catalog_id: 'mac',
        version: '1',
        architecture: 'arm64',
        connection: local,
        machine_remote_path: 'bundles/mac.macvm',
        size: 40,
        description: 'theirs',
        tags: ['x'],
        ...more,
      },
    })

  test('registers a bundle without a description, and writes one', async ({ call, folder }) => {
    const bundle = join(folder, 'catalog/bundles/mac.macvm')
    expect((await importVm(call)).status).toBe(404)
    mkdirSync(join(bundle, 'disk.hdd'), { recursive: true })
    writeFileSync(join(bundle, 'config.pvs'), 'config')
    writeFileSync(join(bundle, 'disk.hdd/disk'), 'the disk')
    const { status, body } = await importVm(call)
    expect(status, body.message).toBe(200)
    expect(body.manifest).toMatchObject({
      type: 'macvm',
      path: '/bundles',
      pack_path: 'mac.macvm',
      pack_relative_path: 'mac.macvm',
      size: 40,
      pack_size: 14,
      description: 'theirs',
      virtual_machine_contents: [
        { name: 'config.pvs', path: '/', size: 6 },
        { name: 'disk', path: '/disk.hdd', size: 8 },
      ],
    })
    expect(JSON.parse(readFileSync(join(folder, 'catalog/bundles/mac-arm64-1.meta'), 'utf8'))).toMatchObject({
      description: 'theirs',
      provider: null,
    })
    expect((await importVm(call)).status).toBe(409)
    expect((await pull(call, { catalog_id: 'mac', architecture: 'arm64' })).body.message).toContain('macvm')
    const deleted = await call('DELETE', at('mac'))
    expect(deleted).toMatchObject({ status: 202, body: { message: expect.stringContaining('bundles/mac.macvm') } })
    // No push of this service has written it.
    expect(readFileSync(join(bundle, 'config.pvs'), 'utf8')).toBe('config')
  })

  test.for<[object, Record<string, unknown>]>([
    [{}, { description: 'kept', tags: ['x', 'latest'], pack_size: 6, custom: 1 }],
    [
      { description: 'asked', tags: ['y'] },
      { description: 'asked', tags: ['y', 'latest'], custom: 1 },
    ],
    [{ force: true }, { description: '', tags: ['latest'], custom: undefined }],
  ])(
    'takes the valid members of an existing description that %j does not override',
    async ([more, { custom, ...manifest }], { call, folder }) => {
      const bundles = join(folder, 'catalog/bundles')
      const metadata = join(bundles, 'mac-arm64-1.meta')
      mkdirSync(join(bundles, 'mac.macvm'), { recursive: true })
      writeFileSync(join(bundles, 'mac.macvm/config.pvs'), 'config')
      const before = { description: 'kept', tags: ['x'], pack_size: 99, size: 'large', custom: 1 }
      writeFileSync(metadata, JSON.stringify(before))
      const { status, body } = await importVm(call, { description: undefined, tags: undefined, ...more })
      expect(status, body.message).toBe(200)
      expect(body.manifest).toMatchObject(manifest)
      expect(JSON.parse(readFileSync(metadata, 'utf8')).custom).toBe(custom)
    },
  )

  test('a description that is not text counts as missing', async ({ call, folder }) => {
    const bundles = join(folder, 'catalog/bundles')
    mkdirSync(join(bundles, 'mac.macvm'), { recursive: true })
    writeFileSync(join(bundles, 'mac.macvm/config.pvs'), 'config')
    writeFileSync(join(bundles, 'mac-arm64-1.meta'), JSON.stringify({ description: 7 }))
    const { status, body } = await importVm(call, { description: undefined })
    expect([status, body.manifest?.description]).toEqual([200, ''])
  })

  test.for([
    [{ machine_remote_path: '' }, 'machine_remote_path'],
    [{ machine_remote_path: '../x' }, 'machine_remote_path'],
    [{ size: 0 }, 'size'],
    [{ type: 'vbox' }, 'type'],
    [{ architecture: '' }, 'architecture'],
  ])('refuses %j', async ([more, word], { call }) => {
    const { status, body } = await importVm(call, more as object)
    expect(status).toBe(400)
    expect(body.message).toContain(word)
  })
})
