import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { readText } from '../http/response-body.ts'
import { drain, getHeader, isSuccess, parseJson, replyError } from '../http/response.ts'
import { createBody } from '../http/request-body.ts'
import type { Registry } from './registry.ts'

/** A layer: a blob with a part of an object. */
export interface Layer {
  /** `sha256:` and lower-case hex. */
  readonly digest: string
  /** Bytes. */
  readonly size: number
}

/** The manifest of an object: its metadata and its layers. */
export interface ObjectManifest {
  /** Of the manifest itself. */
  readonly digest: string
  readonly path: string
  /** RFC 3339. */
  readonly modifiedAt: string
  /** Of the whole object, lower-case hex. */
  readonly sha256: string
  /** Concatenated they are the object. */
  readonly layers: readonly Layer[]
}

export const computeDigest = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const objectType = 'application/vnd.vmhost.object.v1'
const emptyType = 'application/vnd.oci.empty.v1+json'

/** The blob for places where a manifest must name a blob and has none (image specification 1.1). */
export const emptyBlob = Buffer.from('{}')
const emptyDescriptor = { mediaType: emptyType, digest: computeDigest(emptyBlob), size: emptyBlob.length }

/** Bytes of a manifest that every registry must accept. */
const maxManifestBytes = 4 * 1024 * 1024

const annotationKeys = {
  path: 'org.opencontainers.image.title',
  modifiedAt: 'org.opencontainers.image.created',
  sha256: 'vnd.vmhost.object.sha256',
} as const

const manifestSchema = z.object({
  artifactType: z.literal(objectType),
  layers: z.array(
    z.object({ mediaType: z.string(), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/), size: z.int().min(0) }),
  ),
  annotations: z.object({
    [annotationKeys.path]: z.string(),
    [annotationKeys.modifiedAt]: z.string(),
    [annotationKeys.sha256]: z.string().regex(/^[0-9a-f]{64}$/),
  }),
})

const getManifestUrl = (registry: Registry, reference: string): URL => registry.url(`manifests/${reference}`)

/**
 * Reads the manifest of a tag: undefined when there is none, `foreign` when another program wrote it. Throws `upstream`, also
 * for a manifest that does not match its digest.
 */
export const readManifest = async (
  registry: Registry,
  tag: string,
  signal: AbortSignal | undefined,
): Promise<ObjectManifest | 'foreign' | undefined> => {
  // Without the other types a registry would refuse to send a manifest of another kind, or would convert it.
  const headers = { Accept: `${manifestType}, application/vnd.oci.image.index.v1+json, */*` }
  const reply = await registry.read({ url: getManifestUrl(registry, tag), method: 'GET', headers, signal })
  if (reply.status === 404) {
    drain(reply)
    return undefined
  }
  if (reply.status !== 200) throw replyError(reply, 'a manifest')
  const text = await readText(registry.host, reply.body, maxManifestBytes)
  const digest = computeDigest(text)
  const expectedDigest = getHeader(reply, 'docker-content-digest') ?? digest
  const read = manifestSchema.safeParse(parseJson(text))
  if (!read.success) return 'foreign'
  if (expectedDigest !== digest)
    throw new ServiceError(
      'upstream',
      `The storage ${registry.host} sent a manifest that does not match its digest: it is damaged.`,
    )
  const { layers, annotations } = read.data
  return {
    digest,
    path: annotations[annotationKeys.path],
    modifiedAt: annotations[annotationKeys.modifiedAt],
    sha256: annotations[annotationKeys.sha256],
    layers: layers.filter(({ mediaType }) => mediaType !== emptyType).map(({ digest, size }) => ({ digest, size })),
  }
}

/**
 * Writes the manifest of an object and replaces the one that has the tag. The layers and the empty blob must exist. Throws
 * `upstream`.
 */
export const writeManifest = async (
  registry: Registry,
  tag: string,
  { path, modifiedAt, sha256, layers }: Omit<ObjectManifest, 'digest'>,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const descriptors = layers.map(layer => ({ mediaType: 'application/octet-stream', ...layer }))
  const text = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: objectType,
    config: emptyDescriptor,
    // A manifest must have at least one layer.
    layers: descriptors.length > 0 ? descriptors : [emptyDescriptor],
    annotations: {
      [annotationKeys.path]: path,
      [annotationKeys.modifiedAt]: modifiedAt,
      [annotationKeys.sha256]: sha256,
    },
  })
  const headers = { 'Content-Type': manifestType }
  const body = createBody(Buffer.from(text))
  const reply = await registry.send({ url: getManifestUrl(registry, tag), method: 'PUT', headers, body, signal })
  if (!isSuccess(reply)) throw replyError(reply, 'a manifest')
  drain(reply)
}

/** Removes a manifest; no error when it is missing. Throws `unsupported` when the registry does not allow it, and `upstream`. */
export const removeManifest = async (
  registry: Registry,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const reply = await registry.send({ url: getManifestUrl(registry, digest), method: 'DELETE', signal })
  if (reply.status === 405) {
    drain(reply)
    throw new ServiceError(
      'unsupported',
      `The storage ${registry.host} forbids to delete: its operator has to allow it (REGISTRY_STORAGE_DELETE_ENABLED of a docker-registry).`,
    )
  }
  if (reply.status !== 404 && !isSuccess(reply)) throw replyError(reply, 'a manifest')
  drain(reply)
}
