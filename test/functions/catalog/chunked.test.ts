import { createHash, generateKeyPairSync } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { type ListedFile, encodeChunkIndex, parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { acquireRepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { getChunkPath, compressChunk } from '#lib/packs/chunk-store/stored-chunk.ts'
import { encodeSidecar, parseSidecar, signSidecar } from '#lib/packs/sidecar.ts'
import { createLocalStorage } from '#lib/objects/local/local-storage.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'
import type { SimulatedDriver } from '../../support/drivers/simulated-driver.ts'
import { rounds } from '../../support/rounds.ts'
import { noise } from '../../lib/packs/chunk-store/bytes.ts'
import { at, register } from './packs.ts'

const mebibyte = 2 ** 20
/** The size of a disk in MiB, and the number of positions at which it is changed. */
const [size, runs] = rounds([128, 1], [256, 3])
const local = 'provider=local-storage'
const place = at('demo', '1', 'x86_64')
const shaOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Creates a stopped machine with this disk, and gives its folder. */
const create = async (call: Call, driver: SimulatedDriver, disk: Buffer, name = 'source'): Promise<string> => {
  const { status, body } = await call('POST', '/api/v1/machines', {
    body: { name, cpus: 1, memory: 16, disks: [{ size: 1 }] },
  })
  expect(status).toBe(201)
  const { home, definition } = (await driver.get(body.id))!
  const file = join(home, definition.disks[0]!.path)
  writeFileSync(file, disk)
  return file
}
const push = (call: Call, more: object = {}): Promise<Answer> =>
  call('POST', '/api/v1/catalog/push', {
    body: { catalog_id: 'demo', version: '1', connection: local, uuid: 'source', chunked: true, ...more },
  })
const pull = (call: Call, more: object = {}): Promise<Answer> =>
  call('PUT', '/api/v1/catalog/pull', { body: { catalog_id: 'demo', version: '1', machine_name: 'copy', ...more } })
const clean = (call: Call, more: object = {}): Promise<Answer> =>
  call('POST', '/api/v1/catalog/garbage', { body: { connection: local, ...more } })

const chunkFiles = (folder: string): string[] => {
  const root = join(folder, 'catalog/chunks')
  return (existsSync(root) ? readdirSync(root, { recursive: true, withFileTypes: true }) : [])
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}
const bytesIn = (files: readonly string[]): number => files.reduce((sum, file) => sum + statSync(file).size, 0)
const listOf = (folder: string, name = 'demo-x86_64-1.chunks.json') =>
  parseChunkIndex(readFileSync(join(folder, 'catalog/demo', name), 'utf8'))
const diskIn = (files: readonly ListedFile[]): ListedFile => files.toSorted((a, b) => b.size - a.size)[0]!
const chunksIn = ({ chunks }: ListedFile): string[] => chunks.flatMap(one => ('sha256' in one ? [one.sha256] : []))
const diskOf = (home: string, name: string): Buffer => readFileSync(join(home, name))
const nothingLeft = async (call: Call, folder: string, machines = 1): Promise<void> => {
  expect((await call('GET', '/api/v1/machines')).body).toHaveLength(machines)
  expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
}

/** Makes a disk with random bytes, a hole and text. */
const someDisk = (seed = 1): Buffer =>
  Buffer.concat([noise(3 * mebibyte, seed), Buffer.alloc(2 * mebibyte), Buffer.alloc(mebibyte, 'some text ')])

describe('a machine in chunks', () => {
  test('is pushed and pulled without a change, with its holes', async ({ call, folder, driver }) => {
    const disk = someDisk()
    await create(call, driver, disk)
    const pushed = await push(call)
    expect(pushed.status, pushed.body.message).toBe(200)
    const [manifest] = pushed.body
    const list = readFileSync(join(folder, 'catalog/demo/demo-x86_64-1.chunks.json'))
    expect(manifest).toMatchObject({
      pack_filename: 'demo-x86_64-1.chunks.json',
      pack_sha256: shaOf(list),
      pack_size: list.length + bytesIn(chunkFiles(folder)),
      is_compressed: true,
    })
    expect(readdirSync(join(folder, 'catalog/demo')).sort()).toEqual([
      'demo-x86_64-1.chunks.json',
      'demo-x86_64-1.chunks.json.pack.json',
      'demo-x86_64-1.meta',
    ])
    const file = diskIn(listOf(folder))
    expect(file).toMatchObject({
      size: disk.length,
      sha256: shaOf(disk),
      chunks: expect.arrayContaining([{ zeros: 2 * mebibyte }]),
    })
    const pulled = await pull(call)
    expect(pulled.status, pulled.body.message).toBe(200)
    expect(diskOf(pulled.body.local_path, file.name).equals(disk)).toBe(true)
    expect(statSync(join(pulled.body.local_path, file.name)).blocks * 512).toBeLessThan(disk.length - mebibyte)
    // The second pull uses the cache.
    rmSync(join(folder, 'catalog/chunks'), { recursive: true })
    expect(await pull(call, { machine_name: 'again' })).toMatchObject({ status: 200 })
    expect(readdirSync(join(folder, 'state/transfers'))).toEqual([])
  })

  test(
    `of which 10 % were changed in ${runs} runs moves at most 15 % of the bytes`,
    { timeout: 300_000 },
    async ({ call, folder, driver }) => {
      const disk = noise(size * mebibyte, 5)
      const file = await create(call, driver, disk)
      expect((await push(call)).status).toBe(200)
      const before = chunkFiles(folder)
      const run = Math.floor(disk.length / (10 * runs))
      for (let index = 0; index < runs; index += 1)
        noise(run, 100 + index).copy(disk, Math.floor((disk.length / runs) * index + 1_000_000))
      writeFileSync(file, disk)
      expect((await push(call, { version: '2' })).status).toBe(200)
      const known = new Set(before)
      const moved = bytesIn(chunkFiles(folder).filter(one => !known.has(one)))
      expect(moved).toBeGreaterThan(disk.length * 0.1)
      expect(moved).toBeLessThanOrEqual(disk.length * 0.15)
      const { status, body } = await pull(call, { version: '2' })
      expect(status, body.message).toBe(200)
      expect(shaOf(diskOf(body.local_path, diskIn(listOf(folder)).name))).toBe(shaOf(disk))
    },
  )

  test('replaces a pack and is replaced by one, and only chunks remain', async ({ call, folder, driver }) => {
    const file = await create(call, driver, someDisk())
    const first = (await push(call, { chunked: false })).body[0]
    const names = async (more: object): Promise<string[]> => {
      const { status, body } = await push(call, more)
      expect(status, body.message).toBe(200)
      expect(body[0].id).toBe(first.id)
      const there = readdirSync(join(folder, 'catalog/demo'))
      expect(there).toHaveLength(3)
      expect(there).toContain(body[0].pack_filename)
      return there
    }
    await names({})
    expect(listOf(folder, (await call('GET', place)).body[0].pack_filename)).not.toHaveLength(0)
    writeFileSync(file, someDisk(2))
    await names({})
    const pulled = await pull(call)
    expect(pulled.status, pulled.body.message).toBe(200)
    expect(
      diskOf(
        pulled.body.local_path,
        diskIn(listOf(folder, (await call('GET', place)).body[0].pack_filename)).name,
      ).equals(someDisk(2)),
    ).toBe(true)
    await names({ chunked: false })
    expect((await pull(call, { machine_name: 'third' })).status).toBe(200)
    expect((await push(call, { override_existing: false })).status).toBe(409)
  })

  test('has a signature of the chunk index, which covers every chunk', async ({ call, folder, driver, trust }) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    await create(call, driver, someDisk())
    await push(call)
    trust.policy = 'require'
    expect((await pull(call)).status).toBe(403)
    const sideAt = join(folder, 'catalog/demo/demo-x86_64-1.chunks.json.pack.json')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const side = signSidecar(parseSidecar(readFileSync(sideAt, 'utf8')), pem)
    writeFileSync(sideAt, encodeSidecar(side))
    trust.keys = [side.signatures[0]!.key]
    const [chunk] = chunksIn(diskIn(listOf(folder)))
    const chunkAt = join(folder, 'catalog', getChunkPath(chunk!))
    const right = readFileSync(chunkAt)
    writeFileSync(chunkAt, noise(right.length, 77))
    expect((await pull(call)).status).toBe(502)
    writeFileSync(chunkAt, right)
    expect((await pull(call)).status).toBe(200)
  })

  test('can be connected to a new provider only when all chunks are there', async ({ call, folder, driver }) => {
    await create(call, driver, someDisk())
    await push(call)
    const other = join(folder, 'other')
    mkdirSync(other)
    const connect = () =>
      call('PATCH', `${place}/connection`, { body: { connection: `${local};catalog_path=${other}` } })
    cpSync(join(folder, 'catalog/demo'), join(other, 'demo'), { recursive: true })
    expect(await connect()).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('copy the chunks') },
    })
    cpSync(join(folder, 'catalog/chunks'), join(other, 'chunks'), { recursive: true })
    expect((await connect()).status).toBe(200)
    rmSync(join(folder, 'catalog'), { recursive: true })
    expect((await pull(call)).status).toBe(200)
  })

  test('is imported with the size in its description', async ({ call, driver }) => {
    await create(call, driver, someDisk())
    const [pushed] = (await push(call)).body
    expect((await call('DELETE', `${place}?clean_remote=false`)).status).toBe(202)
    const body = { catalog_id: 'demo', version: '1', architecture: 'x86_64', connection: local }
    const imported = await call('PUT', '/api/v1/catalog/import', { body })
    expect(imported.status, imported.body.message).toBe(200)
    expect(imported.body.manifest).toMatchObject({ pack_size: pushed.pack_size, pack_sha256: pushed.pack_sha256 })
    expect((await pull(call)).status).toBe(200)
  })
})

describe('a chunk index that is', () => {
  const chunk = noise(300_000, 3)
  const chunkSha = shaOf(chunk)
  const good: ListedFile = {
    name: 'disk.img',
    mode: 0o644,
    size: chunk.length,
    sha256: chunkSha,
    chunks: [{ sha256: chunkSha, size: chunk.length }],
  }
  /** A chunk of 4 MiB that is compressed to some hundred bytes. */
  const text = Buffer.alloc(4 * mebibyte, 'a')
  const textSha = shaOf(text)
  const repeated = (count: number, name: string): ListedFile => ({
    ...good,
    name,
    size: count * text.length,
    chunks: Array.from({ length: count }, () => ({ sha256: textSha, size: text.length })),
  })
  const registerList = async (call: Call, folder: string, list: string, sha256 = shaOf(list)): Promise<void> => {
    mkdirSync(join(folder, 'catalog/demo'), { recursive: true })
    for (const bytes of [chunk, text]) {
      const file = join(folder, 'catalog', getChunkPath(shaOf(bytes)))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, await compressChunk(bytes))
    }
    writeFileSync(join(folder, 'catalog/demo/x.chunks.json'), list)
    const answer = await register(call, {
      catalog_id: 'demo',
      version: '1',
      architecture: 'x86_64',
      type: 'qemu',
      path: '/demo',
      pack_filename: 'x.chunks.json',
      pack_sha256: sha256,
      provider: { type: 'local-storage', meta: {} },
    })
    expect(answer.status, answer.body.message).toBe(200)
  }
  const missing = 'ab'.repeat(32)

  test.for([
    ['cut off', encodeChunkIndex([good]).slice(0, -5), 502, 'chunk index is damaged'],
    ['not canonical', encodeChunkIndex([good]).replaceAll(',', ', '), 502, 'canonical'],
    ['leading out', encodeChunkIndex([{ ...good, name: '../../out.img' }]), 502, 'segment ..'],
    ['absolute', encodeChunkIndex([{ ...good, name: '/tmp/out.img' }]), 502, 'empty segment'],
    ['naming what belongs to the service', encodeChunkIndex([{ ...good, name: '.vmhost-x' }]), 502, 'service'],
    ['naming one file twice', encodeChunkIndex([good, { ...good, name: 'DISK.img' }]), 502, 'the same as'],
    [
      'of a chunk that is not there',
      encodeChunkIndex([{ ...good, chunks: [{ sha256: missing, size: chunk.length }] }]),
      502,
      'is missing',
    ],
    [
      'of a larger chunk',
      encodeChunkIndex([{ ...good, size: 300_001, chunks: [{ sha256: chunkSha, size: 300_001 }] }]),
      502,
      'unpacked',
    ],
    [
      'of a smaller chunk',
      encodeChunkIndex([{ ...good, size: 299_999, chunks: [{ sha256: chunkSha, size: 299_999 }] }]),
      502,
      'larger',
    ],
    [
      'of more zeros than there are disks',
      encodeChunkIndex([{ ...good, size: 2 ** 50, chunks: [{ zeros: 2 ** 50 }] }]),
      502,
      'more than',
    ],
    ['of one chunk without end', encodeChunkIndex([repeated(100_000, 'huge.img')]), 507, 'bytes'],
    ['of one chunk too often', encodeChunkIndex([repeated(20, 'large.img')]), 502, 'times its size'],
    ['not the one of the catalog', encodeChunkIndex([good]), 502, 'SHA-256', missing],
  ] as const)('%s is refused, and nothing remains', async ([, list, status, message, sha256], { call, folder }) => {
    await registerList(call, folder, list, sha256)
    const answer = await pull(call)
    expect(answer.body.message).toContain(message)
    expect(answer.status).toBe(status)
    await nothingLeft(call, folder, 0)
    expect(existsSync(join(folder, 'out.img'))).toBe(false)
  })

  test('valid is accepted, although no push has written it', async ({ call, folder }) => {
    await registerList(call, folder, encodeChunkIndex([good]))
    // The pull fails only because the index has no definition of a machine.
    expect((await pull(call)).body.message).toContain('machine.json is missing')
  })
})

describe('a chunk', () => {
  const bytes = (call: Call, sha256: string | undefined, ask: object = {}): Promise<Answer> =>
    call('GET', `${place}/download?content=chunk${sha256 === undefined ? '' : `&sha256=${sha256}`}`, ask)

  test('is sent to callers who may read a manifest with it', async ({ call, folder, driver }) => {
    await create(call, driver, someDisk())
    await push(call, { required_roles: ['lab'] })
    for (const sha256 of chunksIn(diskIn(listOf(folder)))) {
      const { status, headers } = await bytes(call, sha256)
      expect(status).toBe(200)
      expect(Number(headers.get('content-length'))).toBe(statSync(join(folder, 'catalog', getChunkPath(sha256))).size)
    }
    const [one] = chunksIn(diskIn(listOf(folder)))
    expect((await bytes(call, one, { as: ['LIST_CATALOG_MANIFEST'] })).status).toBe(404)
    await call('PATCH', `${place}/taint`)
    expect((await bytes(call, one)).status).toBe(400)
  })

  test('of another manifest, or of none, is not found', async ({ call, folder, driver }) => {
    await create(call, driver, someDisk(1))
    await create(call, driver, someDisk(2), 'second')
    await push(call)
    await push(call, { catalog_id: 'secret', uuid: 'second' })
    const own = new Set(listOf(folder).flatMap(chunksIn))
    const foreign = chunkFiles(folder)
      .map(file => file.slice(-64))
      .filter(sha256 => !own.has(sha256))
    expect(foreign.length).toBeGreaterThan(0)
    for (const sha256 of foreign) expect((await bytes(call, sha256)).status).toBe(404)
    expect((await bytes(call, 'ab'.repeat(32))).status).toBe(404)
    for (const wrong of [undefined, 'x', '../../demo']) expect((await bytes(call, wrong)).status).toBe(400)
    expect((await call('GET', `${place}/download?content=pack&sha256=${foreign[0]}`)).status).toBe(400)
    await push(call, { version: '2', chunked: false })
    expect(
      (await call('GET', `${at('demo', '2', 'x86_64')}/download?content=chunk&sha256=${[...own][0]}`)).status,
    ).toBe(404)
  })

  test('of an index that was changed on the provider is not sent', async ({ call, folder, driver }) => {
    await create(call, driver, someDisk())
    await push(call)
    const [one] = chunksIn(diskIn(listOf(folder)))
    const other = listOf(folder).slice(0, 1)
    writeFileSync(join(folder, 'catalog/demo/demo-x86_64-1.chunks.json'), encodeChunkIndex(other))
    expect((await bytes(call, one)).status).toBe(502)
  })

  test('can be neither read nor removed through a manifest that names it as its pack', async ({
    call,
    folder,
    driver,
  }) => {
    await create(call, driver, someDisk())
    await push(call)
    const [one] = chunksIn(diskIn(listOf(folder)))
    const before = chunkFiles(folder)
    for (const [path, name] of [
      [`/chunks/${one!.slice(0, 2)}`, one],
      ['/chunks', one!.slice(0, 2)],
      ['/', 'chunks'],
    ])
      expect(
        await register(call, {
          catalog_id: 'thief',
          path,
          pack_filename: name,
          provider: { type: 'local-storage', meta: {} },
        }),
      ).toMatchObject({ status: 403 })
    expect(chunkFiles(folder)).toEqual(before)
  })
})

describe('the garbage of a provider', () => {
  const age = (folder: string, hours: number): void => {
    for (const file of chunkFiles(folder)) utimesSync(file, new Date(), new Date(Date.now() - hours * 3_600_000))
  }

  test('is counted, then removed, when no index names it any more', async ({ call, folder, driver }) => {
    const file = await create(call, driver, someDisk(1))
    await push(call)
    writeFileSync(file, someDisk(2))
    await push(call, { version: '2' })
    const all = chunkFiles(folder)
    expect(await clean(call)).toMatchObject({ status: 200, body: { kept: all.length, removed: 0, bytes: 0 } })

    const lists = join(folder, 'catalog/demo')
    expect((await call('DELETE', at('demo', '2', 'x86_64'))).status).toBe(202)
    expect(readdirSync(lists)).toHaveLength(3)
    expect(chunkFiles(folder)).toEqual(all)
    const live = new Set(listOf(folder).flatMap(chunksIn))
    const garbage = all.filter(path => !live.has(path.slice(-64)))
    const counted = { kept: live.size, removed: garbage.length, bytes: bytesIn(garbage) }
    expect(garbage.length).toBeGreaterThan(0)
    // The chunks are younger than the grace time.
    expect((await clean(call, { dry_run: false })).body).toMatchObject({ young: garbage.length, removed: 0 })
    age(folder, 30)
    expect((await clean(call, { dry_run: false, grace_hours: 40 })).body).toMatchObject({ removed: 0 })
    expect(await clean(call)).toMatchObject({ status: 200, body: counted })
    expect(chunkFiles(folder)).toEqual(all)
    expect(await clean(call, { dry_run: false })).toMatchObject({ status: 200, body: counted })
    expect(chunkFiles(folder)).toHaveLength(live.size)
    const { status, body } = await pull(call)
    expect(status, body.message).toBe(200)
    const jobs = (await call('GET', '/api/v1/jobs')).body
    expect(jobs).toContainEqual(expect.objectContaining({ job_operation: 'garbage', state: 'completed' }))
  })

  test('does not include chunks that an index of another host names', async ({ call, folder, driver }) => {
    await create(call, driver, someDisk())
    await push(call)
    await call('DELETE', `${place}?clean_remote=false`)
    expect((await call('GET', '/api/v1/catalog')).body).toEqual([])
    age(folder, 48)
    const all = chunkFiles(folder)
    expect((await clean(call, { dry_run: false })).body).toEqual({ kept: all.length, young: 0, removed: 0, bytes: 0 })
    expect(chunkFiles(folder)).toEqual(all)
  })

  test('is not removed while an index cannot be read, or during a push', async ({ call, folder, driver }) => {
    await create(call, driver, someDisk())
    await push(call)
    await call('DELETE', place)
    age(folder, 48)
    const all = chunkFiles(folder)
    const broken = join(folder, 'catalog/demo/broken.chunks.json')
    mkdirSync(join(folder, 'catalog/demo'), { recursive: true })
    writeFileSync(broken, '{"files":[')
    const answer = await clean(call, { dry_run: false })
    expect(answer).toMatchObject({ status: 502, body: { message: expect.stringContaining('demo/broken.chunks.json') } })
    rmSync(broken)
    {
      await using _ = await acquireRepositoryLock(await createLocalStorage(join(folder, 'catalog')), 'shared')
      expect((await clean(call, { dry_run: false })).status).toBe(409)
      expect((await clean(call)).status).toBe(200)
    }
    expect(chunkFiles(folder)).toEqual(all)
    expect((await clean(call, { dry_run: false })).body).toMatchObject({ kept: 0, removed: all.length })
    expect(chunkFiles(folder)).toEqual([])
  })

  test('is collected for super users only, with a provider and a valid grace time', async ({ call }) => {
    const body = { connection: local }
    expect((await call('POST', '/api/v1/catalog/garbage', { as: ['PUSH_CATALOG_MANIFEST'], body })).status).toBe(403)
    for (const more of [{ connection: 'host=a.example' }, { connection: '' }, { grace_hours: -1 }])
      expect((await clean(call, more)).status).toBe(400)
  })

  test('has a job that does not show the storage secret', async ({ call, folder }) => {
    const connection = `${local};catalog_path=${join(folder, 'catalog')};access_key=very-secret-key`
    expect((await clean(call, { connection })).status).toBe(200)
    for (const path of ['/api/v1/jobs', '/api/v1/events'])
      expect(JSON.stringify((await call('GET', path)).body)).not.toContain('very-secret-key')
  })
})
