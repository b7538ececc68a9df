import type { Storage } from '#lib/catalog/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { bodyOfSource } from './artifactory-body.ts'
import { makeFolder, moveFile } from './artifactory-dav.ts'
import { listObjects } from './artifactory-list.ts'
import { partOf, sweepParts } from './artifactory-parts.ts'
import { openSite } from './artifactory-site.ts'
import { checkedStream } from './http/body.ts'
import { following } from './http/follow.ts'
import { rangeHeader, sizeOf } from './http/range.ts'
import { discard, headerOf, isDone, lengthOf, modifiedAtOf, refused } from './http/reply.ts'
import { createFetcher, type Fetcher, type Reply } from './http/send.ts'
import { segmentsOf } from './object-path.ts'
import type { ObjectStat, Provider, Source, WriteOptions } from './provider.ts'

const isDigest = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/**
 * Keeps objects in a repository of an Artifactory, or below a folder of a plain WebDAV server. Neither can go on with an
 * upload that was cut off, so that begins anew; Artifactory is first asked whether it has the bytes already.
 * Throws `invalid` for a storage that cannot be, and `upstream` when the server does not answer as it should.
 */
export const createArtifactory = async (storage: Storage, fetcher: Fetcher = createFetcher()): Promise<Provider> => {
  const site = await openSite(storage, fetcher)
  const { host, hasApi, url, send, sendOnce } = site
  const read = following(send)
  const writing = new Set<string>()

  /** Whether this is what the server says of an object. Artifactory names checksums of objects, and of folders none. */
  const isObject = ({ status, headers }: Reply): boolean =>
    status === 200 && (!hasApi || ['md5', 'sha1', 'sha256'].some(kind => `x-checksum-${kind}` in headers))

  const stat = async (path: string, signal?: AbortSignal): Promise<ObjectStat | undefined> => {
    const reply = await send({ url: url(segmentsOf(path)), method: 'HEAD', signal })
    discard(reply)
    // A folder has its page under its name with a slash.
    const isFolder = (reply.headers.location ?? '').endsWith('/')
    if (reply.status === 404 || isFolder || (reply.status === 200 && !isObject(reply))) return undefined
    if (reply.status !== 200) throw refused(reply, path)
    const size = lengthOf(reply)
    if (size === undefined) throw new ServiceError('upstream', `The storage ${host} does not say how large ${path} is.`)
    const [md5, sha256] = ['md5', 'sha256'].map(kind => headerOf(reply, `x-checksum-${kind}`)?.toLowerCase())
    return {
      path,
      size,
      ...modifiedAtOf(reply.headers['last-modified']),
      ...(md5 && { md5 }),
      ...(sha256 && { sha256 }),
    }
  }

  const expectDone = async (reply: Reply, path: string): Promise<void> => {
    if (reply.status === 409 && hasApi) {
      discard(reply)
      throw new ServiceError(
        'conflict',
        `The storage ${host} does not take ${path}: its bytes are not those of their SHA-256.`,
      )
    }
    if (!isDone(reply)) throw refused(reply, path)
    discard(reply)
  }

  /** Puts an object where its checksum is known already; false when it is not. */
  const deployByChecksum = async (path: string, headers: object, signal?: AbortSignal): Promise<boolean> => {
    const known = { ...headers, 'X-Checksum-Deploy': 'true' }
    const reply = await send({ url: url(segmentsOf(path)), method: 'PUT', headers: known, signal })
    if (reply.status === 404) {
      discard(reply)
      return false
    }
    await expectDone(reply, path)
    return true
  }

  const writeToArtifactory = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256, signal, onProgress } = options
    const headers = sha256 === undefined ? {} : { 'X-Checksum-Sha256': sha256 }
    if (sha256 !== undefined && (await deployByChecksum(path, headers, signal))) return onProgress?.(source.size)
    const body = bodyOfSource(path, source, options)
    await expectDone(await send({ url: url(segmentsOf(path)), method: 'PUT', headers, body, signal }), path)
  }

  /** Under a hidden name, and then moved: what a WebDAV server has of a cut upload is nobody's promise. */
  const writeToDav = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256, signal } = options
    const segments = segmentsOf(path)
    const folder = segments.slice(0, -1)
    const part = partOf(segments, sha256)
    const body = bodyOfSource(path, source, options)
    await makeFolder(site, folder, signal)
    try {
      await expectDone(await send({ url: url(part), method: 'PUT', body, signal }), path)
      const kept = await send({ url: url(part), method: 'HEAD', signal })
      discard(kept)
      if (lengthOf(kept) !== source.size)
        throw new ServiceError(
          'upstream',
          `The storage ${host} kept ${lengthOf(kept)} of ${source.size} bytes of ${path}.`,
        )
      await moveFile(site, part, segments, signal)
    } catch (error) {
      const signal = AbortSignal.timeout(5_000)
      await sendOnce({ url: url(part), method: 'DELETE', signal }).then(discard, () => undefined)
      throw error
    }
    // The bytes of what has a digest for a name are always the same: what a try has left is taken by the next.
    if (!isDigest(segments.at(-1)!)) await sweepParts(site, segments, signal)
  }

  return {
    type: 'artifactory',
    stat,
    async read(path, { range, signal } = {}) {
      const headers = rangeHeader(path, range)
      const reply = await read({ url: url(segmentsOf(path)), method: 'GET', headers, signal })
      const { status, body } = reply
      const direct = reply.url.origin === url([]).origin
      const isFolder = (reply.headers.location ?? '').endsWith('/')
      if (status === 404 || isFolder || (direct && status === 200 && !isObject(reply))) {
        discard(reply)
        throw new ServiceError('not-found', `There is no object ${path}.`)
      }
      if (!isDone(reply)) throw refused(reply, path)
      const [length, said] = [reply.headers['content-length'], reply.headers['content-range']]
      const found = { host: reply.url.host, what: path, length, range: said }
      // Of the whole not every server says how much it is.
      const size = range || length !== undefined ? sizeOf(body, found, range) : undefined
      const sha256 = range ? undefined : headerOf(reply, 'x-checksum-sha256')?.toLowerCase()
      return checkedStream(body, { ...found, size, sha256, signal })
    },
    async write(path, source, options = {}) {
      segmentsOf(path)
      if (writing.has(path)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(path)
      try {
        await (hasApi ? writeToArtifactory : writeToDav)(path, source, options)
      } finally {
        writing.delete(path)
      }
    },
    async *list(folder, signal) {
      if (folder !== '') segmentsOf(folder)
      yield* listObjects(site, folder, signal)
    },
    async remove(path, signal) {
      // Artifactory deletes a folder with all that is in it.
      if (!hasApi && !writing.has(path)) await sweepParts(site, segmentsOf(path), signal)
      if (!(await stat(path, signal))) return
      const reply = await send({ url: url(segmentsOf(path)), method: 'DELETE', signal })
      if (reply.status !== 404 && !isDone(reply)) throw refused(reply, path)
      discard(reply)
    },
  }
}
