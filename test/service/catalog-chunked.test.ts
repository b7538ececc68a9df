import { describe, expect, test } from 'vitest'
import { collectChunks, parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { imageChunkSizes } from '#lib/packs/chunks/chunker.ts'
import { getChunkPath } from '#lib/packs/chunk-store/stored-chunk.ts'
import type { ObjectStat } from '#lib/objects/port/provider.ts'
import { readBytes } from '../contracts/provider.ts'
import { createNoisy, diskIn, renew, resumed } from '../support/guests/noisy.ts'
import { registryInstalled } from '../support/servers/registry.ts'
import { rounds } from '../support/rounds.ts'
import { newState } from '../support/service.ts'
import { type Kind, localKind, openRegistry, type Place, sampledKinds, storageKinds } from '../support/storages.ts'
import { connectionTo, type Host, startHost } from '../support/transfers.ts'
import { until } from '../support/waiting.ts'

/** A host with a machine that is full of noise, another host, and an empty place of a kind. */
const begin = async (kind: Pick<Kind, 'open'>) => {
  const stack = new AsyncDisposableStack()
  const [first, second] = [stack.use(newState()), stack.use(newState())]
  const place = stack.use(await kind.open())
  const from = await startHost(first.path, 'embedded', { VMHOST_DEMO: 'on' })
  const to = await startHost(second.path, 'embedded', { VMHOST_OUTGOING_ADDRESSES: '127.0.0.1' })
  const home = await createNoisy(from, first.path)
  return { place, from, to, home, state: first.path, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const push = ({ call }: Host, { connection }: Place, version: string) =>
  call('POST', '/catalog/push', { catalog_id: 'noisy', version, connection, uuid: 'noisy', chunked: true })

/** Pulls a version that nothing is cached of, and gives the digest of its disk. */
const pulledDisk = async ({ call }: Host, connection: string, version: string): Promise<string> => {
  await call('DELETE', '/catalog/cache')
  const pulled = await call('PUT', '/catalog/pull', {
    catalog_id: 'noisy',
    version,
    machine_name: 'copy',
    connection,
  })
  expect(pulled.status, pulled.body.message).toBe(200)
  const digest = diskIn(pulled.body.local_path)
  expect((await call('DELETE', '/machines/copy')).status).toBe(202)
  return digest
}

/** The chunks that are there, by their paths. */
const chunksAt = async ({ provider }: Place): Promise<ReadonlyMap<string, ObjectStat>> => {
  const found = new Map<string, ObjectStat>()
  for await (const object of provider.list('chunks')) found.set(object.path, object)
  return found
}
/** The paths of the chunks that a version is of. */
const chunksIn = async ({ provider }: Place, { body }: Awaited<ReturnType<typeof push>>): Promise<Set<string>> => {
  const text = (await readBytes(await provider.read(`noisy/${body[0].pack_filename}`))).toString()
  return new Set([...collectChunks(parseChunkIndex(text)).keys()].map(getChunkPath))
}
const clean = ({ call }: Host, { connection }: Place, dry_run: boolean) =>
  call('POST', '/catalog/garbage', { connection, dry_run, grace_hours: 0 })

const sizeOf = (objects: Iterable<ObjectStat>): number => [...objects].reduce((sum, { size }) => sum + size, 0)

/** In every run each on one kind, by `npm run full` both on all. */
const [sharedOn, killedOn] = rounds(
  [sampledKinds.slice(0, 1), [localKind]],
  [
    [localKind, ...storageKinds],
    [localKind, ...storageKinds],
  ],
)

describe.each(sharedOn)('chunks on $name', kind => {
  const why = kind.left && ` (${kind.left})`
  test.skipIf(why !== '')(`are uploaded once, shared by versions, pulled and collected${why}`, async () => {
    await using hosts = await begin(kind)
    const { place, from, to, home } = hosts
    const first = renew(home)
    const one = await push(from, place, '1')
    expect(one.status, one.body.message).toBe(200)
    const before = await chunksAt(place)
    const ofOne = await chunksIn(place, one)
    expect([...before.keys()].sort()).toEqual([...ofOne].sort())

    // The times of objects are of whole seconds.
    const written = Math.floor(Date.now() / 1_000)
    await until(() => expect(Math.floor(Date.now() / 1_000)).toBeGreaterThan(written))
    const changed = 2 * 2 ** 20
    const second = renew(home, 24 * 2 ** 20 - changed)
    const two = await push(from, place, '2')
    expect(two.status, two.body.message).toBe(200)
    const after = await chunksAt(place)
    const ofTwo = await chunksIn(place, two)
    expect([...after.keys()].sort()).toEqual([...ofOne.union(ofTwo)].sort())
    for (const [path, object] of before) expect(after.get(path)).toEqual(object)
    const sent = sizeOf(after.values()) - sizeOf(before.values())
    expect(sent).toBeLessThan(changed + 2 * imageChunkSizes.max)
    console.log(
      `${kind.name}: ${ofTwo.difference(ofOne).size} of ${ofTwo.size} chunks and ${sent} bytes were sent for version 2`,
    )

    // From the storage itself, and from the catalog, which keeps to itself what opens that.
    expect(await pulledDisk(to, `${connectionTo(from)};${place.connection}`, '1')).toBe(first)
    expect(await pulledDisk(to, connectionTo(from), '2')).toBe(second)

    expect((await from.call('DELETE', '/catalog/noisy/1')).status).toBe(202)
    const dead = ofOne.difference(ofTwo)
    const expected = {
      kept: ofTwo.size,
      removed: dead.size,
      bytes: sizeOf([...dead].map(path => before.get(path)!)),
    }
    expect(dead.size).toBeGreaterThan(0)
    expect(await clean(to, place, true)).toMatchObject({ status: 200, body: expected })
    expect([...(await chunksAt(place)).keys()].sort()).toEqual([...after.keys()].sort())
    expect(await clean(from, place, false)).toMatchObject({ status: 200, body: expected })
    expect([...(await chunksAt(place)).keys()].sort()).toEqual([...ofTwo].sort())
    expect(await pulledDisk(to, connectionTo(from), '2')).toBe(second)

    expect((await from.call('DELETE', '/catalog/noisy')).status).toBe(202)
    expect(await clean(to, place, false)).toMatchObject({ body: { kept: 0, removed: ofTwo.size } })
    expect(await place.everything()).toEqual([])
    await to.service.stop()
    await from.service.stop()
  })
})

describe.each(killedOn)('chunks on $name', kind => {
  const why = kind.left && ` (${kind.left})`
  test.skipIf(why !== '')(
    `of a push whose service was killed can be collected after its restart, and not by another host before${why}`,
    async () => {
      await using hosts = await begin(kind)
      const { place, to, home, state } = hosts
      let { from } = hosts
      const isHeld = async (): Promise<boolean> =>
        (await place.everything()).some(path => path.startsWith('chunks/holds/'))
      renew(home)
      const answer = push(from, place, '1').catch(() => undefined)
      // Its hold, and a chunk.
      await until(async () => expect((await chunksAt(place)).size).toBeGreaterThan(1), 5)
      await from.service.kill()
      await answer
      expect(await isHeld()).toBe(true)
      expect(await clean(to, place, false)).toMatchObject({ status: 409 })

      from = await startHost(state, 'embedded')
      expect(await resumed(from)).toEqual(['completed'])
      const disk = diskIn(home)
      expect(await clean(from, place, false)).toMatchObject({ status: 200, body: { removed: 0 } })
      expect(await isHeld()).toBe(false)
      expect(await clean(to, place, false)).toMatchObject({ status: 200, body: { removed: 0 } })
      expect(await pulledDisk(to, connectionTo(from), '1')).toBe(disk)
      await to.service.stop()
      await from.service.stop()
    },
  )
})

test.skipIf(!registryInstalled)(
  'in a registry that forbids deletions, chunks can be pushed and pulled, and deletions are refused',
  async () => {
    await using hosts = await begin({ open: () => openRegistry({ deletes: false }) })
    const { place, from, to, home } = hosts
    for (const version of ['1', '2']) {
      const digest = renew(home, 22 * 2 ** 20)
      const pushed = await push(from, place, version)
      expect(pushed.status, pushed.body.message).toBe(200)
      expect(await pulledDisk(to, connectionTo(from), version)).toBe(digest)
      expect((await clean(from, place, true)).body).toMatchObject({ removed: 0 })
      expect(await clean(from, place, false)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('forbids to delete') },
      })
    }
    await to.service.stop()
    await from.service.stop()
  },
)
