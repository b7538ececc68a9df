import type { Storage } from '#lib/catalog/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { streamOf } from '../http/body.ts'
import { rangeHeader } from '../http/range.ts'
import { createFetcher, type Fetcher } from '../http/send.ts'
import { isObjectPath, segmentsOf } from '../object-path.ts'
import type { ByteRange, ObjectStat, Provider, Source, WriteOptions } from '../provider.ts'
import { createBlobs } from './blobs.ts'
import {
  digestOf,
  emptyBlob,
  type ObjectManifest,
  type Piece,
  readManifest,
  removeManifest,
  writeManifest,
} from './manifest.ts'
import { sendPieces } from './pieces.ts'
import { openRegistry, repositoryOf } from './registry.ts'
import { isDigestTag, pathOf, tagOf } from './tag.ts'
import { tagsOf } from './tags.ts'

/** Manifests that are read at once for a list. */
const readers = 8

/** Milliseconds for which the readers of one object's ranges share what was read of its manifest. */
const freshFor = 30_000

interface Options {
  readonly fetcher?: Fetcher
  /** Bytes that go to the registry as one blob. */
  readonly piece?: number
}

const sizeOf = ({ pieces }: ObjectManifest): number => pieces.reduce((sum, { size }) => sum + size, 0)

/** The parts of the pieces of an object that are in a range, in their order. */
const partsIn = (pieces: readonly Piece[], { start, end }: ByteRange): { piece: Piece; range: ByteRange }[] => {
  let at = 0
  return pieces.flatMap(piece => {
    const range = { start: Math.max(start - at, 0), end: Math.min(end - at, piece.size) }
    at += piece.size
    return range.start < range.end ? [{ piece, range }] : []
  })
}

/**
 * Keeps objects in a repository of an OCI registry: each is a manifest under a tag of its own, and its bytes are blobs,
 * one of 16 MiB after the other. A blob that is there is not sent: a write that was cut off reads all, and sends the rest.
 * The manifest comes last, and replaces the old one at once. Throws `invalid` for a storage that cannot be.
 */
export const createOci = async (
  storage: Storage,
  { fetcher = createFetcher(), piece = 16 * 1024 * 1024 }: Options = {},
): Promise<Provider> => {
  const registry = openRegistry(storage, fetcher)
  const from = storage.meta['mount_from']
  const blobs = createBlobs(registry, from && repositoryOf(from))
  const writing = new Set<string>()
  let last: { readonly path: string; readonly at: number; readonly found: ObjectManifest | undefined } | undefined

  const find = async (path: string, signal?: AbortSignal): Promise<ObjectManifest | undefined> => {
    const found = await readManifest(registry, tagOf(path), signal)
    return found === 'foreign' || found?.path !== path ? undefined : found
  }
  const findShared = async (path: string, signal?: AbortSignal): Promise<ObjectManifest | undefined> => {
    if (last?.path !== path || Date.now() - last.at > freshFor)
      last = { path, at: Date.now(), found: await find(path, signal) }
    return last.found
  }

  const statOf = (manifest: ObjectManifest): ObjectStat => {
    const { path, modifiedAt, sha256 } = manifest
    return { path, size: sizeOf(manifest), modifiedAt, sha256 }
  }

  const bytesIn = async function* (pieces: readonly Piece[], range: ByteRange, signal: AbortSignal | undefined) {
    for (const part of partsIn(pieces, range)) yield* await blobs.read(part.piece, part.range, signal)
  }

  const write = async (path: string, source: Source, { sha256, signal, onProgress }: WriteOptions): Promise<void> => {
    const tag = tagOf(path)
    const there = await readManifest(registry, tag, signal)
    if (there === 'foreign')
      throw new ServiceError(
        'conflict',
        `The storage ${registry.host} has something else under the tag ${tag}, which is kept.`,
      )
    if (there && there.sha256 === sha256 && sizeOf(there) === source.size) return onProgress?.(source.size)
    last = undefined
    const sent = await sendPieces(source, { piece, signal, onProgress, write: blobs.write })
    if (sha256 !== undefined && sent.sha256 !== sha256)
      throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
    await blobs.write({ digest: digestOf(emptyBlob), size: emptyBlob.length }, emptyBlob, signal)
    await writeManifest(registry, tag, { path, modifiedAt: new Date().toISOString(), ...sent }, signal)
    last = undefined
  }

  return {
    type: 'oci',
    async stat(path, signal) {
      segmentsOf(path)
      const found = await find(path, signal)
      return found && statOf(found)
    },
    async read(path, { range, signal } = {}) {
      segmentsOf(path)
      rangeHeader(path, range)
      const found = await (range ? findShared : find)(path, signal)
      if (!found) throw new ServiceError('not-found', `There is no object ${path}.`)
      const size = sizeOf(found)
      if (range && range.end > size)
        throw new ServiceError('invalid', `${path} has ${size} bytes, and none up to ${range.end}.`)
      return streamOf(bytesIn(found.pieces, range ?? { start: 0, end: size }, signal))
    },
    async write(path, source, options = {}) {
      segmentsOf(path)
      if (writing.has(path)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(path)
      try {
        await write(path, source, options)
      } finally {
        writing.delete(path)
      }
    },
    async *list(folder, signal) {
      if (folder !== '') segmentsOf(folder)
      const inside = (path: string): boolean => isObjectPath(path) && (folder === '' || path.startsWith(`${folder}/`))
      for await (const tags of tagsOf(registry, signal)) {
        const wanted = tags.filter(tag => isDigestTag(tag) || inside(pathOf(tag) ?? ''))
        for (let at = 0; at < wanted.length; at += readers) {
          const some = wanted
            .slice(at, at + readers)
            .map(async tag => ({ tag, is: await readManifest(registry, tag, signal) }))
          for (const { tag, is } of await Promise.all(some))
            if (is && is !== 'foreign' && tagOf(is.path) === tag && inside(is.path)) yield statOf(is)
        }
      }
    },
    async remove(path, signal) {
      segmentsOf(path)
      const found = await find(path, signal)
      last = undefined
      if (found) await removeManifest(registry, found.digest, signal)
    },
  }
}
