import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { textOf } from '../http/body.ts'
import { discard, headerOf, isDone, parsed, refused } from '../http/reply.ts'
import { bodyOf } from '../http/sent-body.ts'
import type { Registry } from './registry.ts'

/** A piece of an object: a blob. */
export interface Piece {
  /** `sha256:` and lower-case hex. */
  readonly digest: string
  /** Bytes. */
  readonly size: number
}

/** What is kept of an object beside its bytes. */
export interface ObjectManifest {
  /** Of the manifest itself. */
  readonly digest: string
  readonly path: string
  /** RFC 3339. */
  readonly modifiedAt: string
  /** Of the whole, lower-case hex. */
  readonly sha256: string
  /** One after the other they are the object. */
  readonly pieces: readonly Piece[]
}

export const digestOf = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const objectType = 'application/vnd.vmhost.object.v1'
const emptyType = 'application/vnd.oci.empty.v1+json'

/** What stands where a manifest has to name a blob, and there is nothing to say (image specification 1.1). */
export const emptyBlob = Buffer.from('{}')
const emptyDescriptor = { mediaType: emptyType, digest: digestOf(emptyBlob), size: emptyBlob.length }

/** The most that registries have to take. */
const longest = 4 * 1024 * 1024

const names = {
  path: 'org.opencontainers.image.title',
  modifiedAt: 'org.opencontainers.image.created',
  sha256: 'vnd.vmhost.object.sha256',
} as const

const shape = z.object({
  artifactType: z.literal(objectType),
  layers: z.array(
    z.object({ mediaType: z.string(), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/), size: z.int().min(0) }),
  ),
  annotations: z.object({
    [names.path]: z.string(),
    [names.modifiedAt]: z.string(),
    [names.sha256]: z.string().regex(/^[0-9a-f]{64}$/),
  }),
})

const manifestUrl = (registry: Registry, reference: string): URL => registry.url(`manifests/${reference}`)

/**
 * Reads what a tag stands for: undefined when there is none, `foreign` for what is no object of ours. Throws `upstream`,
 * also for bytes that are not those of their digest.
 */
export const readManifest = async (
  registry: Registry,
  tag: string,
  signal: AbortSignal | undefined,
): Promise<ObjectManifest | 'foreign' | undefined> => {
  // Without the others a registry gives no manifest of another kind, or makes one of ours from it.
  const headers = { Accept: `${manifestType}, application/vnd.oci.image.index.v1+json, */*` }
  const reply = await registry.read({ url: manifestUrl(registry, tag), method: 'GET', headers, signal })
  if (reply.status === 404) {
    discard(reply)
    return undefined
  }
  if (reply.status !== 200) throw refused(reply, 'a manifest')
  const text = await textOf(registry.host, reply.body, longest)
  const digest = digestOf(text)
  const said = headerOf(reply, 'docker-content-digest') ?? digest
  const read = shape.safeParse(parsed(text))
  if (!read.success) return 'foreign'
  if (said !== digest)
    throw new ServiceError(
      'upstream',
      `The storage ${registry.host} gave a manifest that is not that of its digest: it is damaged.`,
    )
  const { layers, annotations } = read.data
  return {
    digest,
    path: annotations[names.path],
    modifiedAt: annotations[names.modifiedAt],
    sha256: annotations[names.sha256],
    pieces: layers.filter(({ mediaType }) => mediaType !== emptyType).map(({ digest, size }) => ({ digest, size })),
  }
}

/**
 * Puts an object under its tag, in the place of what has that: its pieces and the empty blob have to be there. Throws
 * `upstream`.
 */
export const writeManifest = async (
  registry: Registry,
  tag: string,
  { path, modifiedAt, sha256, pieces }: Omit<ObjectManifest, 'digest'>,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const layers = pieces.map(piece => ({ mediaType: 'application/octet-stream', ...piece }))
  const text = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: objectType,
    config: emptyDescriptor,
    // A manifest has one layer at least.
    layers: layers.length > 0 ? layers : [emptyDescriptor],
    annotations: { [names.path]: path, [names.modifiedAt]: modifiedAt, [names.sha256]: sha256 },
  })
  const headers = { 'Content-Type': manifestType }
  const body = bodyOf(Buffer.from(text))
  const reply = await registry.send({ url: manifestUrl(registry, tag), method: 'PUT', headers, body, signal })
  if (!isDone(reply)) throw refused(reply, 'a manifest')
  discard(reply)
}

/** Removes a manifest; no error when there is none. Throws `unsupported` where the registry forbids it, and `upstream`. */
export const removeManifest = async (
  registry: Registry,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const reply = await registry.send({ url: manifestUrl(registry, digest), method: 'DELETE', signal })
  if (reply.status === 405) {
    discard(reply)
    throw new ServiceError(
      'unsupported',
      `The storage ${registry.host} forbids to delete: its operator has to allow it (REGISTRY_STORAGE_DELETE_ENABLED of a docker-registry).`,
    )
  }
  if (reply.status !== 404 && !isDone(reply)) throw refused(reply, 'a manifest')
  discard(reply)
}
