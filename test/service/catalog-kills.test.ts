import { createHash, randomFillSync } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { parseChunkedFiles } from '#lib/catalog/chunks/chunk-list.ts'
import { isListPath } from '#lib/catalog/chunks/list-object.ts'
import { readChunked } from '#lib/catalog/chunks/read-chunked.ts'
import { fetchFrom, storedIn } from '#lib/catalog/chunks/stored-chunk.ts'
import type { CatalogManifest } from '#lib/catalog/manifest.ts'
import { createLocalStorage } from '#lib/catalog/providers/local-storage.ts'
import { unpackInto } from '#lib/catalog/pack/read.ts'
import { bytesOf } from '../lib/catalog/chunks/bytes.ts'
import { newFolder } from '../support/folder.ts'
import type { Answer } from '../support/harness.ts'
import { seededRandom } from '../support/random.ts'
import { newState } from '../support/service.ts'
import { connectionTo, type Host, startHost } from '../support/transfers.ts'

/** How often each is killed, pulls half as often: each format at least once. 50 are what a release is shown with. */
const kills = Number(process.env['KILLS'] ?? 8)
const timeout = 60_000 + kills * 30_000
/** Bytes: three pieces of a pack. */
const diskSize = 24 * 2 ** 20
const compressions = [
  {},
  { compress_pack: true, compress_level: 1 },
  { compress_pack: true, compress_format: 'zstd', compress_level: 1 },
  { chunked: true },
]
const noise = Buffer.allocUnsafeSlow(diskSize)

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Every file below a folder, also those whose names are hidden. */
const filesBelow = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()

/** Chunks are nobody's, and stay until they are collected. */
const withoutChunks = (provider: string): string[] =>
  filesBelow(provider).filter(file => !file.startsWith(join(provider, 'chunks/')))

const homeOf = async (host: Host, name: string): Promise<string> =>
  (await host.call('GET', `/machines/${name}`)).body[0].Home
const diskIn = (home: string): string => join(home, 'disk0.img')

/** A stopped machine with a disk full of noise. */
const createNoisy = async (host: Host, state: string): Promise<string> => {
  const demo = await homeOf(host, 'demo')
  const kernel = join(state, 'kernel.bin')
  writeFileSync(kernel, readFileSync(join(demo, 'kernel.bin')))
  const made = await host.call('POST', '/machines', {
    name: 'noisy',
    memory: 16,
    kernel,
    disks: [{ size: diskSize / 2 ** 20 }],
  })
  expect(made.status, made.body.message).toBe(201)
  return homeOf(host, 'noisy')
}
/** Writes another content to a disk, and gives its digest. */
const renew = (home: string): string => {
  writeFileSync(diskIn(home), randomFillSync(noise))
  return digestOf(noise)
}

/** Waits for the work that the last process left, and gives how each ended. */
const resumed = async (host: Host): Promise<string[]> =>
  vi.waitFor(
    async () => {
      const { body } = await host.call('GET', '/jobs')
      for (const { state } of body) expect(['completed', 'failed']).toContain(state)
      return body.map(({ state, error = '' }: { state: string; error?: string }) => `${state} ${error}`.trim())
    },
    { timeout: 30_000, interval: 20 },
  )

/** The digest of the disk that a pack on the provider has in it. */
const diskInPack = async (file: string): Promise<string | undefined> => {
  if (isListPath(file)) {
    const provider = await createLocalStorage(dirname(dirname(file)))
    const disk = parseChunkedFiles(readFileSync(file, 'utf8')).find(({ name }) => name === 'disk0.img')!
    return digestOf(await bytesOf(readChunked(fetchFrom(storedIn(provider)), disk)))
  }
  using folder = newFolder()
  const pack = Readable.toWeb(createReadStream(file, { highWaterMark: 2 ** 20 })) as ReadableStream<Uint8Array>
  const files = await unpackInto(pack, folder.path, { limits: { entries: 10, bytes: 2 ** 30, ratio: 100 } })
  return files.find(({ name }) => name === 'disk0.img')?.sha256
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = Date.now()
  await work()
  return Date.now() - begun
}

describe('the catalog of a service that is killed', () => {
  test(
    `in ${kills} moments of a push: the same push again gives the right pack, and nothing else is left`,
    async () => {
      using state = newState()
      using provider = newFolder()
      const random = seededRandom(20_261_121)
      let host = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
      const home = await createNoisy(host, state.path)
      const push = (version: string, more: object) =>
        host.call('POST', '/catalog/push', {
          catalog_id: 'noisy',
          version,
          connection: `provider=local-storage;catalog_path=${provider.path}`,
          uuid: 'noisy',
          ...more,
        })
      const manifests = async (): Promise<CatalogManifest[]> => (await host.call('GET', '/catalog')).body
      const named = async (): Promise<string[]> =>
        (await manifests())
          .flatMap(({ pack_filename: pack, metadata_filename: meta }) => [pack, `${pack}.pack.json`, meta])
          .map(name => join(provider.path, 'noisy', name))
          .sort()

      let before = renew(home)
      const durations: number[] = []
      for (const more of compressions) durations.push(await timed(() => push('1', more)))
      await host.call('DELETE', '/jobs/cleanup')
      let resumedPushes = 0
      for (let round = 0; round < kills; round += 1) {
        const kind = round % compressions.length
        const version = round % 2 === 0 ? '1' : `new${round}`
        const now = renew(home)
        const moment = random() * durations[kind]!
        const at = `round ${round}, ${Math.round(moment)} ms of ${durations[kind]!}`
        const answer = push(version, compressions[kind]!).catch(() => undefined)
        await wait(moment)
        await host.service.kill()
        await answer
        const left = filesBelow(provider.path).length

        host = await startHost(state.path, 'embedded')
        // The one of before can be had at every moment; the push may be under way again, or done.
        const pulled = await host.call('PUT', '/catalog/pull', {
          catalog_id: 'noisy',
          version: '1',
          machine_name: 'old',
        })
        expect(pulled.status, `${at}: ${pulled.body.message}`).toBe(200)
        expect(version === '1' ? [before, now] : [before], at).toContain(
          digestOf(readFileSync(diskIn(pulled.body.local_path))),
        )
        expect((await host.call('DELETE', '/machines/old')).status).toBe(202)

        const again = await push(version, compressions[kind]!)
        expect(again.status, `${at}: ${again.body.message}`).toBe(200)
        const ends = await resumed(host)
        for (const end of ends) expect(end, at).toBe('completed')
        // Beside the push that came again and the pull.
        resumedPushes += ends.length - 2
        const [manifest] = again.body
        const pack = join(provider.path, 'noisy', manifest.pack_filename)
        expect(digestOf(readFileSync(pack)), at).toBe(manifest.pack_sha256)
        expect(await diskInPack(pack), at).toBe(now)
        expect(withoutChunks(provider.path), `${at}; after the kill there were ${left}`).toEqual(await named())
        expect(filesBelow(join(state.path, 'transfers')), at).toEqual([])
        expect(readdirSync(join(state.path, 'transfers')), at).toEqual([])
        expect((await host.call('GET', '/machines/noisy/status')).body, at).toMatchObject({ status: 'stopped' })
        expect(digestOf(readFileSync(diskIn(home))), at).toBe(now)
        if (version === '1') before = now
        else expect((await host.call('DELETE', `/catalog/noisy/${version}`)).status).toBe(202)
        await host.call('DELETE', '/jobs/cleanup')
        await host.call('DELETE', '/catalog/cache')
      }
      console.log(`${resumedPushes} pushes were gone on with by the service itself after its start`)
      expect(await host.call('GET', '/machines/noisy/start')).toMatchObject({ status: 200 })
      expect(withoutChunks(provider.path)).toEqual(await named())
      expect(await host.service.stop()).toBe(0)
    },
    timeout,
  )

  test.each(['itself', 'another host'] as const)(
    `in ${Math.ceil(kills / 2)} moments of a pull from %s: there is one whole machine, or none`,
    async from => {
      using state = newState()
      using other = newState()
      const random = seededRandom(from === 'itself' ? 7 : 8)
      const catalog = await startHost(other.path, 'embedded', { VMHOST_DEMO: 'on' })
      const home = await createNoisy(catalog, other.path)
      const digests: string[] = []
      for (const [version, more] of compressions.entries()) {
        digests.push(renew(home))
        const pushed = await catalog.call('POST', '/catalog/push', {
          catalog_id: 'noisy',
          version: String(version),
          connection: 'provider=local-storage',
          uuid: 'noisy',
          ...more,
        })
        expect(pushed.status, pushed.body.message).toBe(200)
      }
      const own = from === 'itself'
      if (own) await catalog.service.stop()
      const path = own ? other.path : state.path
      let host = await startHost(path, 'embedded')
      const pull = (version: number, name: string) =>
        host.call('PUT', '/catalog/pull', {
          catalog_id: 'noisy',
          version: String(version),
          machine_name: name,
          ...(!own && { connection: connectionTo(catalog) }),
        })
      const machines = async (): Promise<string[]> =>
        (await host.call('GET', '/machines')).body.map((one: { Name: string }) => one.Name)
      const there = await machines()

      const cached = async (): Promise<number> => (await host.call('GET', '/catalog/cache')).body.length
      /** Milliseconds of a pull of each version: the first, and one of what is cached by then. */
      const durations: number[][] = []
      for (const version of digests.keys()) {
        const both: number[] = []
        for (const _ of ['first', 'cached']) {
          both.push(await timed(() => pull(version, 'timed')))
          expect((await host.call('DELETE', '/machines/timed')).status).toBe(202)
        }
        durations.push(both)
      }
      let done = 0
      for (let round = 0; round < Math.ceil(kills / 2); round += 1) {
        const version = round % digests.length
        const cold = round % 4 !== 3
        if (cold) await host.call('DELETE', '/catalog/cache')
        const duration = durations[version]![cold ? 0 : 1]!
        const moment = random() * duration
        const at = `round ${round}, ${cold ? '' : 'cached, '}${Math.round(moment)} ms of ${duration}`
        const answer = pull(version, 'Copy').catch(() => undefined)
        await wait(moment)
        await host.service.kill()
        const answered = await answer

        host = await startHost(path, 'embedded')
        for (const end of await resumed(host)) expect(end, at).toBe('completed')
        const found = await machines()
        expect([there, [...there, 'Copy']].map(names => names.toSorted())).toContainEqual(found.toSorted())
        if (answered?.status === 200) expect(found, at).toContain('Copy')
        // Folders and machines are the same set: nothing half-made is left.
        const folders = readdirSync(join(path, 'machines/embedded'))
        expect(folders, at).toHaveLength(found.length)
        expect(folders.filter(name => name.startsWith('.'))).toEqual([])
        // What nobody has come for goes as soon as what goes on has ended.
        await vi.waitFor(() => expect(readdirSync(join(path, 'transfers')), at).toEqual([]))
        expect(readdirSync(join(path, 'cache')), at).toHaveLength(await cached())
        const again = await pull(version, 'copy')
        if (found.includes('Copy')) {
          done += 1
          expect(again.status, at).toBe(409)
          expect(digestOf(readFileSync(diskIn(await homeOf(host, 'copy')))), at).toBe(digests[version])
          expect((await host.call('DELETE', '/machines/copy')).status).toBe(202)
          expect((await pull(version, 'copy')).status, at).toBe(200)
        } else expect(again.status, `${at}: ${again.body.message}`).toBe(200)
        expect(digestOf(readFileSync(diskIn(await homeOf(host, 'copy')))), at).toBe(digests[version])
        expect((await host.call('DELETE', '/machines/copy')).status).toBe(202)
        expect(readdirSync(join(path, 'transfers')), at).toEqual([])
        await host.call('DELETE', '/jobs/cleanup')
      }
      console.log(`${done} of ${Math.ceil(kills / 2)} were done by the service itself after its start`)
      expect(await host.service.stop()).toBe(0)
      if (!own) await catalog.service.stop()
    },
    timeout,
  )

  test('cancelled in the middle, a push and a pull leave nothing, and can come again', async () => {
    using state = newState()
    using provider = newFolder()
    const host = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
    const digest = renew(await createNoisy(host, state.path))
    const catalogId = { catalog_id: 'noisy', version: '1' }
    const connection = `provider=local-storage;catalog_path=${provider.path}`
    const push = (how: string) => host.call('POST', `/catalog/push${how}`, { ...catalogId, connection, uuid: 'noisy' })
    const pull = (how: string) => host.call('PUT', `/catalog/pull${how}`, { ...catalogId, machine_name: 'copy' })
    const machines = join(state.path, 'machines/embedded')
    const transfers = join(state.path, 'transfers')

    const cancelWhen = async (begun: Promise<Answer>, isThere: () => boolean): Promise<void> => {
      const { id } = (await begun).body
      await vi.waitFor(() => expect(isThere()).toBe(true), { timeout: 20_000, interval: 2 })
      expect((await host.call('POST', `/jobs/${id}/cancel`)).status).toBe(202)
      expect(await resumed(host)).toContainEqual(expect.stringMatching(/^failed The job was cancelled by root/))
      expect((await host.call('GET', `/jobs/${id}`)).body).toMatchObject({ state: 'failed', code: 409 })
      expect(readdirSync(transfers)).toEqual([])
      expect(readdirSync(machines)).toHaveLength(2)
    }
    await cancelWhen(push('/async'), () => filesBelow(transfers).some(file => file.endsWith('pack.part')))
    expect(filesBelow(provider.path)).toEqual([])
    expect((await push('')).status).toBe(200)
    await cancelWhen(pull('/async'), () => readdirSync(machines).some(name => name.startsWith('.new-')))
    const pulled = await pull('')
    expect(pulled.status, pulled.body.message).toBe(200)
    expect(digestOf(readFileSync(diskIn(pulled.body.local_path)))).toBe(digest)
    expect(await host.service.stop()).toBe(0)
  })
})
