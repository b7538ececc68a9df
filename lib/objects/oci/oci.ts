import { parseSettings, type Storage } from '../port/connection.ts'
import { RegistrySettings } from '../port/provider-settings.ts'
import { ServiceError } from '#lib/errors.ts'
import { toStream } from '../http/response-body.ts'
import { createRangeHeader } from '../http/range.ts'
import type { Fetcher } from '../http/fetcher.ts'
import { checkDigest } from '../port/guard-writes.ts'
import { checkVersion } from '../port/check-version.ts'
import { isObjectPath, splitObjectPath } from '../port/object-path.ts'
import type { ByteRange, ObjectStat, Provider, Source, WriteOptions } from '../port/provider.ts'
import { createBlobs } from './blobs.ts'
import {
  computeDigest,
  emptyBlob,
  type ObjectManifest,
  type Layer,
  readManifest,
  removeManifest,
  writeManifest,
} from './oci-manifest.ts'
import { uploadLayers } from './layers.ts'
import { openRegistry, parseRepositoryName } from './registry.ts'
import { isDigestTag, decodeTag, encodeTag } from './tag-name.ts'
import { listTags } from './tags.ts'

/** Manifests that are read at the same time for a list. */
const manifestReadConcurrency = 8

/** Milliseconds for which reads of ranges of one object share its manifest. */
const manifestCacheMs = 30_000

interface Options {
  readonly fetcher: Fetcher
  /** Bytes of a layer. */
  readonly layerSize?: number
}

const getObjectSize = ({ layers }: ObjectManifest): number => layers.reduce((sum, { size }) => sum + size, 0)

/** The layers of an object that overlap a range, in their order, each with the range within it. */
const selectLayerRanges = (
  layers: readonly Layer[],
  { start, end }: ByteRange,
): { layer: Layer; range: ByteRange }[] => {
  let offset = 0
  return layers.flatMap(layer => {
    const range = { start: Math.max(start - offset, 0), end: Math.min(end - offset, layer.size) }
    offset += layer.size
    return range.start < range.end ? [{ layer, range }] : []
  })
}

/**
 * Stores objects in a repository of an OCI registry: each object is a manifest with its own tag, and its bytes are layers of
 * 16 MiB. A layer that the registry has is not sent again, so a retried write reads the whole source and sends the rest. The
 * manifest is written last and replaces the old one atomically. Throws `invalid` for an invalid connection.
 */
export const createOci = async (
  storage: Storage,
  { fetcher, layerSize = 16 * 1024 * 1024 }: Options,
): Promise<Provider> => {
  const settings = parseSettings(RegistrySettings, storage)
  const registry = openRegistry(settings, fetcher)
  const blobs = createBlobs(registry, settings.mount_from && parseRepositoryName(settings.mount_from))
  let cachedManifest:
    | { readonly path: string; readonly offset: number; readonly found: ObjectManifest | undefined }
    | undefined

  const findManifest = async (path: string, signal?: AbortSignal): Promise<ObjectManifest | undefined> => {
    const found = await readManifest(registry, encodeTag(path), signal)
    return found === 'foreign' || found?.path !== path ? undefined : found
  }
  const findCachedManifest = async (path: string, signal?: AbortSignal): Promise<ObjectManifest | undefined> => {
    if (cachedManifest?.path !== path || Date.now() - cachedManifest.offset > manifestCacheMs)
      cachedManifest = { path, offset: Date.now(), found: await findManifest(path, signal) }
    return cachedManifest.found
  }

  const toObjectStat = (manifest: ObjectManifest): ObjectStat => {
    const { path, modifiedAt, sha256 } = manifest
    return { path, size: getObjectSize(manifest), modifiedAt, sha256, version: manifest.digest }
  }

  const readLayers = async function* (layers: readonly Layer[], range: ByteRange, signal: AbortSignal | undefined) {
    for (const part of selectLayerRanges(layers, range)) yield* await blobs.read(part.layer, part.range, signal)
  }

  const write = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256, signal, onProgress } = options
    const tag = encodeTag(path)
    const existing = await readManifest(registry, tag, signal)
    if (existing === 'foreign')
      throw new ServiceError(
        'conflict',
        `The storage ${registry.host} has something else under the tag ${tag}, which is not replaced.`,
      )
    if (existing && existing.sha256 === sha256 && getObjectSize(existing) === source.size)
      return onProgress?.(source.size)
    cachedManifest = undefined
    const sent = await uploadLayers(source, { layerSize, signal, onProgress, write: blobs.write })
    checkDigest(path, sent.sha256, sha256)
    await blobs.write({ digest: computeDigest(emptyBlob), size: emptyBlob.length }, emptyBlob, signal)
    if (options.replaces !== undefined) {
      const now = await findManifest(path, signal)
      checkVersion(path, now && toObjectStat(now), options)
    }
    await writeManifest(registry, tag, { path, modifiedAt: new Date().toISOString(), ...sent }, signal)
    cachedManifest = undefined
  }

  return {
    type: 'oci',
    async stat(path, signal) {
      splitObjectPath(path)
      const found = await findManifest(path, signal)
      return found && toObjectStat(found)
    },
    async read(path, { range, signal } = {}) {
      splitObjectPath(path)
      createRangeHeader(path, range)
      const found = await (range ? findCachedManifest : findManifest)(path, signal)
      if (!found) throw new ServiceError('not-found', `There is no object ${path}.`)
      const size = getObjectSize(found)
      if (range && range.end > size)
        throw new ServiceError('invalid', `${path} has ${size} bytes, and none up to ${range.end}.`)
      return toStream(readLayers(found.layers, range ?? { start: 0, end: size }, signal))
    },
    async write(path, source, options = {}) {
      splitObjectPath(path)
      await write(path, source, options)
    },
    async *list(folder, signal) {
      if (folder !== '') splitObjectPath(folder)
      const isInFolder = (path: string): boolean =>
        isObjectPath(path) && (folder === '' || path.startsWith(`${folder}/`))
      for await (const tags of listTags(registry, signal)) {
        const wanted = tags.filter(tag => isDigestTag(tag) || isInFolder(decodeTag(tag) ?? ''))
        for (let offset = 0; offset < wanted.length; offset += manifestReadConcurrency) {
          const some = wanted
            .slice(offset, offset + manifestReadConcurrency)
            .map(async tag => ({ tag, is: await readManifest(registry, tag, signal) }))
          for (const { tag, is } of await Promise.all(some))
            if (is && is !== 'foreign' && encodeTag(is.path) === tag && isInFolder(is.path)) yield toObjectStat(is)
        }
      }
    },
    async remove(path, signal) {
      splitObjectPath(path)
      const found = await findManifest(path, signal)
      cachedManifest = undefined
      if (found) await removeManifest(registry, found.digest, signal)
    },
  }
}
