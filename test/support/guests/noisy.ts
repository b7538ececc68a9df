import { createHash, randomFillSync } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import { readChunkedContent } from '#lib/packs/chunk-store/read-chunked.ts'
import { createChunkFetcher, createStoredChunkReader } from '#lib/packs/chunk-store/stored-chunk.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { readBytes } from '../../contracts/provider.ts'
import { bytesOf as bytesWithZeros } from '../../lib/packs/chunk-store/bytes.ts'
import { newFolder } from '../folder.ts'
import { rounds } from '../rounds.ts'
import { type Kind, killedKinds, localKind } from '../storages.ts'
import type { Host } from '../transfers.ts'
import { until } from '../waiting.ts'

/** Bytes: three pieces of a pack. */
const diskSize = 24 * 2 ** 20
const noise = Buffer.allocUnsafeSlow(diskSize)

/** The ways in which a machine is pushed. */
export const formats = [
  {},
  { compress_pack: true, compress_level: 1 },
  { compress_pack: true, compress_format: 'zstd', compress_level: 1 },
  { chunked: true },
] as const

/** How often a service is killed: each format once on local storage, and half of them on each other kind. */
export const killsOn = (kind: Kind): number => rounds(kind === localKind ? 4 : 2, kind === localKind ? 16 : 8)

/** The number of the first round on a kind: the kinds share the formats and what differs from round to round. */
export const firstRoundOn = (kind: Kind, each: number): number => Math.max(0, each * killedKinds.indexOf(kind))

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Every file below a folder, also those whose names are hidden. */
export const filesBelow = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()

export const homeOf = async (host: Host, name: string): Promise<string> =>
  (await host.call('GET', `/machines/${name}`)).body[0].Home

/** The digest of the disk of the machine in a folder. */
export const diskIn = (home: string): string => digestOf(readFileSync(join(home, 'disk0.img')))

/** Makes a stopped machine with a disk for noise, of a host that has the demo machine; gives its folder. */
export const createNoisy = async (host: Host, state: string): Promise<string> => {
  const kernel = join(state, 'attach/kernel.bin')
  writeFileSync(kernel, readFileSync(join(await homeOf(host, 'demo'), 'kernel.bin')))
  const made = await host.call('POST', '/machines', {
    name: 'noisy',
    memory: 16,
    kernel,
    disks: [{ size: diskSize / 2 ** 20 }],
  })
  expect(made.status, made.body.message).toBe(201)
  return homeOf(host, 'noisy')
}

/** Writes another content to the disk of the machine in a folder, from a byte on, and gives its digest. */
export const renew = (home: string, from = 0): string => {
  writeFileSync(join(home, 'disk0.img'), randomFillSync(noise, from))
  return digestOf(noise)
}

/** Waits for the work that the last process left, and gives how each ended. */
export const resumed = async (host: Host): Promise<string[]> =>
  until(async () => {
    const { body } = await host.call('GET', '/jobs')
    for (const { state } of body) expect(['completed', 'failed']).toContain(state)
    return body.map(({ state, error = '' }: { state: string; error?: string }) => `${state} ${error}`.trim())
  })

/** The digest of the disk that a pack on a provider has in it. */
export const diskInPack = async (provider: Provider, path: string): Promise<string | undefined> => {
  if (path.endsWith(indexSuffix)) {
    const text = (await readBytes(await provider.read(path))).toString()
    const disk = parseChunkIndex(text).find(({ name }) => name === 'disk0.img')!
    return digestOf(
      await bytesWithZeros(readChunkedContent(createChunkFetcher(createStoredChunkReader(provider)), disk)),
    )
  }
  using folder = newFolder()
  const limits = { entries: 10, bytes: 2 ** 30, ratio: 100 }
  const files = await unpackTar(await provider.read(path), folder.path, { limits })
  return files.find(({ name }) => name === 'disk0.img')?.sha256
}

/** Milliseconds that some work takes. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = Date.now()
  await work()
  return Date.now() - begun
}
