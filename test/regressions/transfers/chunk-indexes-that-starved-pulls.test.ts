import { hash } from 'node:crypto'
import { http } from 'msw'
import { expect, test as plain, vi } from 'vitest'
import { createChunkReader } from '#lib/catalog/chunk-download.ts'
import { encodeChunkIndex, parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { collectDigests, hasDigest } from '#lib/packs/chunks/compact-index.ts'
import { createIndexParser } from '#lib/packs/chunks/index-parser.ts'
import { getChunkPath } from '#lib/packs/chunk-store/stored-chunk.ts'
import type { ManifestRow } from '#lib/catalog/view.ts'
import type { Storages } from '#lib/objects/storages.ts'
import { type StartWorker, createStartWorker } from '#lib/platform/workers.ts'
import { bytesOf } from '../../lib/packs/chunk-store/bytes.ts'
import { createMemoryProvider } from '../../lib/packs/chunk-store/memory-provider.ts'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const shaOf = (text: string): string => hash('sha256', text)
const startWorker = createStartWorker(new URL('../../../lib/entry/main.ts', import.meta.url))

/** The text of an index of so many chunks, and their names. */
const indexOf = (name: string, count: number) => {
  const names = Array.from({ length: count }, (_, chunk) => shaOf(`${name} ${chunk}`))
  const chunks = [...names.map(sha256 => ({ sha256, size: 2 ** 20 })), { zeros: 2 ** 40 }]
  const size = count * 2 ** 20 + 2 ** 40
  return { names, text: encodeChunkIndex([{ name: 'disk', mode: 0o644, size, sha256: shaOf(name), chunks }]) }
}

plain('two machines of 300,000 chunks are served side by side, and each index is read once', async () => {
  const reads: string[] = []
  const provider = createMemoryProvider(async what => void (what.startsWith('read') && reads.push(what.slice(5))))
  const put = (path: string, bytes: Buffer) => provider.objects.set(path, { bytes, modifiedAt: 0 })
  const machines = ['a', 'b'].map(name => {
    const index = indexOf(name, 300_000)
    put(`x/${name}`, Buffer.from(index.text))
    for (const chunk of index.names.slice(0, 3)) put(getChunkPath(chunk), Buffer.from(name))
    const manifest = { name, path: '/x', pack_filename: name, pack_sha256: shaOf(index.text), provider: { meta: {} } }
    return { ...index, manifest: manifest as unknown as ManifestRow }
  })
  const started: string[] = []
  const counting: StartWorker = (role, ...more) => {
    started.push(role)
    return startWorker(role, ...more)
  }
  const storages = { open: async () => provider } as unknown as Storages
  const contents = createChunkReader({ storages, indexParser: createIndexParser(counting) })
  const signal = new AbortController().signal
  for (let chunk = 0; chunk < 3; chunk += 1)
    for (const { manifest, names } of machines) {
      const { read } = await contents.open('somebody', manifest, names[chunk]!, signal)
      expect((await bytesOf(await read({ start: 0, end: 1 }))).toString()).toBe(manifest.name)
    }
  const [one, other] = machines
  await expect(contents.open('somebody', one!.manifest, other!.names[0]!, signal)).rejects.toMatchObject({
    fault: 'not-found',
  })
  expect(reads.filter(path => path.startsWith('x/'))).toEqual(['x/a', 'x/b'])
  // In threads, in which nobody waits for it.
  expect(started).toEqual(['chunk-index', 'chunk-index'])
})

plain('an index that a thread has parsed equals the one that was written', async () => {
  const { text, names } = indexOf('a', 5_000)
  const parser = createIndexParser(startWorker)
  const bytes = () => Buffer.from(new Uint8Array(Buffer.from(text)))
  const files = (await parser.parseFiles(bytes())).map(file => ({ ...file, chunks: [...file.chunks] }))
  expect(files).toEqual(parseChunkIndex(text))
  const digests = await parser.parseDigests(bytes())
  expect(digests).toEqual(new Uint8Array(collectDigests(files)))
  expect(names.every(name => hasDigest(digests, name))).toBe(true)
  expect(hasDigest(digests, shaOf('another'))).toBe(false)
  await expect(parser.parseFiles(Buffer.from(new Uint8Array(Buffer.from(text.slice(0, -1)))))).rejects.toMatchObject({
    fault: 'upstream',
  })
})

plain('an index that never comes is given up after ten minutes, also if the provider ignores the signal', async () => {
  const never = () => new Promise<never>(() => {})
  const storages = { open: async () => ({ stat: never, read: never }) } as unknown as Storages
  const contents = createChunkReader({ storages, indexParser: createIndexParser(startWorker) })
  const manifest = { name: 'a', path: '/x', pack_filename: 'a', pack_sha256: shaOf('a'), provider: { meta: {} } }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const read = contents.open('somebody', manifest as unknown as ManifestRow, shaOf('b'), new AbortController().signal)
    const ended = expect(read).rejects.toMatchObject({ fault: 'timeout' })
    for (let minute = 0; minute < 11; minute += 1) await vi.advanceTimersByTimeAsync(60_000)
    await ended
  } finally {
    vi.useRealTimers()
  }
})

test('a manifest with the digest of another on a storage that never answers delays nobody else', async ({
  call,
  folder,
  network,
}) => {
  const { text, names } = indexOf('victim', 3)
  const provider = createMemoryProvider()
  expect(provider.objects.size).toBe(0)
  const { mkdirSync, writeFileSync } = await import('node:fs')
  const place = (path: string, content: string): void => {
    const file = `${folder}/catalog/${path}`
    mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true })
    writeFileSync(file, content)
  }
  place('victim/pack', text)
  place(getChunkPath(names[0]!), 'a chunk')
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  network.use(
    http.all('http://silent.example/*', () => {
      isAsked()
      return new Promise<never>(() => {})
    }),
  )
  const meta = { bucket: 'packs', endpoint: 'http://silent.example', access_key: 'a', secret_key: 'b' }
  const known = { version: '1', architecture: 'x86_64', pack_filename: 'pack', pack_sha256: shaOf(text) }
  const local = { type: 'local-storage', meta: {} }
  await register(call, { ...known, catalog_id: 'attacker', path: '/attacker', provider: { type: 'minio', meta } })
  await register(call, { ...known, catalog_id: 'victim', path: '/victim', provider: local })
  const ask = (id: string, signal?: AbortSignal) =>
    call('GET', `${at(id, '1', 'x86_64')}/download?content=chunk&sha256=${names[0]}`, {
      as: id === 'attacker' ? ['LIST_CATALOG_MANIFEST', 'other'] : ['LIST_CATALOG_MANIFEST'],
      ...(signal && { signal }),
    })
  const given = new AbortController()
  const hanging = ask('attacker', given.signal).catch(() => undefined)
  await asked
  expect((await ask('victim')).status).toBe(200)
  given.abort()
  await hanging
})
