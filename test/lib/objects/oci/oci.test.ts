import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Fetcher } from '#lib/objects/http/fetcher.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import { createOci } from '#lib/objects/oci/oci.ts'
import { providerContract, createTestSource } from '../../../contracts/provider.ts'
import { newFolder } from '../../../support/folder.ts'
import { account, type Registry, registryInstalled, startRegistry } from '../../../support/servers/registry.ts'

const reason = registryInstalled ? '' : ' (skipped: docker-registry is not installed)'
const layerSize = 1024 * 1024
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const source = (bytes: Buffer) => ({
  size: bytes.length,
  read: ({ start, end }: { start: number; end: number }) =>
    new Blob([new Uint8Array(bytes.subarray(start, end))]).stream(),
})
const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe.skipIf(!registryInstalled)(`oci, on a docker-registry${reason}`, () => {
  let folder: ReturnType<typeof newFolder>
  const places = (): string => mkdtempSync(join(folder.path, 'registry-'))
  let registry: Registry
  beforeAll(async () => {
    folder = newFolder()
    registry = await startRegistry(places(), { auth: 'token' })
  })
  afterAll(async () => {
    await registry[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const send = createFetcher()
  /** The methods and sizes of the requests that go out. */
  const sent: [string, number][] = []
  const fetcher: Fetcher = ask => {
    sent.push([ask.method, ask.body?.size ?? 0])
    return send(ask)
  }
  let made = 0
  const open = (meta: Record<string, string> = {}, address = registry.address) => {
    const repository = `team/packs-${(made += 1)}`
    return createOci(
      { type: 'oci', meta: { registry: address, repository, ...account, ...meta } },
      { layerSize, fetcher },
    )
  }
  const patches = () => sent.filter(([method]) => method === 'PATCH').map(([, size]) => size)

  const again = () => {
    made -= 1
    return open()
  }
  providerContract(open, again, layerSize, { resume: 'reads all' })

  test('asks for the scopes of the challenge, once for all waiting requests', async () => {
    const before = registry.scopes.length
    const provider = await open({ repository: 'rights' })
    const bytes = randomBytes(5 * layerSize)
    await provider.write('a', source(bytes))
    await provider.remove('a')
    expect(registry.scopes.slice(before)).toEqual([
      'repository:rights:pull',
      'repository:rights:pull,push',
      'repository:rights:delete,pull,push',
    ])
  })

  test('does not send a layer that the registry has from an interrupted write or another object', async () => {
    const provider = await open({ repository: 'again' })
    const bytes = randomBytes(6 * layerSize)
    await expect(provider.write('a', createTestSource(bytes, 4 * layerSize))).rejects.toThrow('the source was cut')
    sent.length = 0
    const seen: number[] = []
    await provider.write('a', source(bytes), { sha256: sha256(bytes), onProgress: done => void seen.push(done) })
    // Layers that were being sent when the source failed may be in the registry or not.
    const resent = patches().filter(size => size === layerSize).length
    expect(resent).toBeLessThanOrEqual(4)
    expect(resent).toBeGreaterThanOrEqual(2)
    expect(seen).toEqual([1, 2, 3, 4, 5, 6].map(count => count * layerSize))

    sent.length = 0
    await provider.write('b', source(bytes))
    expect(patches()).toEqual([])
    await provider.remove('a')
    expect((await bytesOf(await provider.read('b'))).equals(bytes)).toBe(true)
  })

  test('reads nothing of the source when the object exists with the same digest', async () => {
    const provider = await open()
    const bytes = randomBytes(1000)
    await provider.write('a', source(bytes), { sha256: sha256(bytes) })
    sent.length = 0
    await provider.write('a', source(bytes), { sha256: sha256(bytes) })
    expect(sent).toEqual([['GET', 0]])
    expect(await provider.stat('a')).toMatchObject({ sha256: sha256(bytes) })
  })

  test('mounts the layers that another repository has', async () => {
    const bytes = randomBytes(3 * layerSize)
    await (await open({ repository: 'team/origin' })).write('a', source(bytes))
    const provider = await open({ mount_from: 'team/origin' })
    sent.length = 0
    await provider.write('a', source(bytes))
    expect(patches()).toEqual([])
    expect((await bytesOf(await provider.read('a'))).equals(bytes)).toBe(true)
  })

  test('reads a range that spans several layers', async () => {
    const provider = await open()
    const bytes = randomBytes(3 * layerSize + 5)
    await provider.write('a', source(bytes))
    for (const [start, end] of [
      [layerSize - 1, 2 * layerSize + 1],
      [layerSize, 2 * layerSize],
      [2 * layerSize, bytes.length],
    ] as const)
      expect(
        (await bytesOf(await provider.read('a', { range: { start, end } }))).equals(bytes.subarray(start, end)),
      ).toBe(true)
    const beyond = provider.read('a', { range: { start: 0, end: bytes.length + 1 } })
    await expect(beyond).rejects.toMatchObject({ fault: 'invalid' })
  })

  test('stores an object whose path is too long for a tag', async () => {
    const provider = await open()
    const path = `仮想/${'x'.repeat(200)}/${'y'.repeat(200)}`
    await provider.write(path, source(Buffer.from('z')))
    expect(await provider.stat(path)).toMatchObject({ path, size: 1 })
    const listed: string[] = []
    for await (const object of provider.list('仮想')) listed.push(object.path)
    expect(listed).toEqual([path])
  })

  test('lists more objects than it reads at the same time', async () => {
    const provider = await open()
    const paths = Array.from({ length: 20 }, (_, count) => `object-${String(count).padStart(2, '0')}`)
    for (const path of paths) await provider.write(path, source(Buffer.from(path)))
    const listed: string[] = []
    for await (const object of provider.list('')) listed.push(object.path)
    expect(listed.sort()).toEqual(paths)
  })

  test('authenticates with Basic, and reports refused credentials without naming them', async () => {
    await using basic = await startRegistry(places(), { auth: 'basic' })
    const bytes = randomBytes(2 * layerSize)
    const provider = await open({}, basic.address)
    await provider.write('a', source(bytes))
    expect((await bytesOf(await provider.read('a'))).equals(bytes)).toBe(true)
    for (const address of [basic.address, registry.address]) {
      const stranger = await open({ password: 'wrong-horse' }, address)
      const error = await stranger.stat('a').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ fault: 'upstream', message: expect.stringContaining('refused the credentials') })
      expect((error as Error).message).not.toContain('wrong-horse')
    }
  })

  test('reports that the registry does not allow to delete', async () => {
    await using keeping = await startRegistry(places(), { deletes: false })
    const provider = await open({}, keeping.address)
    await provider.write('a', source(Buffer.from('x')))
    await provider.remove('b')
    const refused = expect(provider.remove('a')).rejects
    await refused.toMatchObject({ fault: 'unsupported', message: expect.stringContaining('forbids to delete') })
    expect(await provider.stat('a')).toMatchObject({ size: 1 })
  })
})
