import type { Storage } from '#lib/catalog/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { bodyOf } from './artifactory-body.ts'
import { makeFolder, moveFile } from './artifactory-dav.ts'
import { listObjects } from './artifactory-list.ts'
import { openSite } from './artifactory-site.ts'
import { follow } from './follow.ts'
import { hidden, segmentsOf } from './object-path.ts'
import type { ObjectStat, Provider, Source, WriteOptions } from './provider.ts'
import {
  checked,
  checkPartial,
  checkRange,
  discard,
  isDone,
  lengthOf,
  modifiedAtOf,
  rangeHeader,
  refusal,
} from './reply.ts'
import { type Reply, streamOf, usualLimits } from './request.ts'

/**
 * Keeps objects in a repository of an Artifactory, or below a folder of a plain WebDAV server. Neither can go on with an
 * upload that was cut off, so that begins anew; Artifactory is first asked whether it has the bytes already.
 * Throws `invalid` for a storage that cannot be, and `upstream` when the server does not answer as it should.
 */
export const createArtifactory = async (storage: Storage, limits = usualLimits): Promise<Provider> => {
  const site = await openSite(storage, limits)
  const { name, hasApi, url, send, sendOnce } = site
  const writing = new Set<string>()

  /** Whether this is what the server says of an object. Artifactory names checksums of objects, and of folders none. */
  const isObject = ({ status, headers }: Reply): boolean =>
    status === 200 && (!hasApi || ['md5', 'sha1', 'sha256'].some(kind => headers.has(`x-checksum-${kind}`)))

  const stat = async (path: string, signal?: AbortSignal): Promise<ObjectStat | undefined> => {
    const reply = await send(url(segmentsOf(path)), { method: 'HEAD', signal })
    await discard(reply)
    // A folder has its page under its name with a slash.
    const isFolder = (reply.headers.get('location') ?? '').endsWith('/')
    if (reply.status === 404 || isFolder || (reply.status === 200 && !isObject(reply))) return undefined
    if (reply.status !== 200) throw await refusal(name, reply, `${path} was looked up`)
    const size = lengthOf(reply)
    if (size === undefined) throw new ServiceError('upstream', `${name} does not say how large ${path} is.`)
    const [md5, sha256] = ['md5', 'sha256'].map(kind => reply.headers.get(`x-checksum-${kind}`)?.toLowerCase())
    return {
      path,
      size,
      ...modifiedAtOf(reply.headers.get('last-modified')),
      ...(md5 && { md5 }),
      ...(sha256 && { sha256 }),
    }
  }

  const expectDone = async (reply: Reply, path: string): Promise<void> => {
    if (reply.status === 409 && hasApi) {
      await discard(reply)
      throw new ServiceError('conflict', `${name} does not take ${path}: its bytes are not those of their SHA-256.`)
    }
    if (!isDone(reply)) throw await refusal(name, reply, `${path} was written`)
    await discard(reply)
  }

  /** Puts an object where its checksum is known already; false when it is not. */
  const deployByChecksum = async (path: string, headers: object, signal?: AbortSignal): Promise<boolean> => {
    const known = { ...headers, 'X-Checksum-Deploy': 'true' }
    const reply = await send(url(segmentsOf(path)), { method: 'PUT', headers: known, signal })
    if (reply.status === 404) {
      await discard(reply)
      return false
    }
    await expectDone(reply, path)
    return true
  }

  const writeToArtifactory = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256, signal, onProgress } = options
    const headers = sha256 === undefined ? {} : { 'X-Checksum-Sha256': sha256 }
    if (sha256 !== undefined && (await deployByChecksum(path, headers, signal))) return onProgress?.(source.size)
    const body = bodyOf(path, source, options)
    await expectDone(await send(url(segmentsOf(path)), { method: 'PUT', headers, body, signal }), path)
  }

  /** Under a hidden name, and then moved: what a WebDAV server has of a cut upload is nobody's promise. */
  const writeToDav = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256 = crypto.randomUUID(), signal } = options
    const segments = segmentsOf(path)
    const folder = segments.slice(0, -1)
    // By its digest: a later try takes the place of what an earlier one has left.
    const part = [...folder, `${hidden}${sha256}`]
    const body = bodyOf(path, source, options)
    await makeFolder(site, folder, signal)
    try {
      await expectDone(await send(url(part), { method: 'PUT', body, signal }), path)
      const kept = await send(url(part), { method: 'HEAD', signal })
      await discard(kept)
      if (lengthOf(kept) !== source.size)
        throw new ServiceError('upstream', `${name} kept ${lengthOf(kept)} of ${source.size} bytes of ${path}.`)
      await moveFile(site, part, segments, signal)
    } catch (error) {
      const signal = AbortSignal.timeout(5_000)
      await sendOnce(url(part), { method: 'DELETE', signal }).then(discard, () => undefined)
      throw error
    }
  }

  return {
    type: 'artifactory',
    stat,
    async read(path, { range, signal } = {}) {
      if (range) checkRange(path, range)
      const call = { method: 'GET', headers: range ? rangeHeader(range) : {}, signal }
      const reply = await follow(name, send, url(segmentsOf(path)), call)
      const what = `${path} was read`
      const direct = reply.url.origin === url([]).origin
      const isFolder = (reply.headers.get('location') ?? '').endsWith('/')
      if (reply.status === 404 || isFolder || (direct && reply.status === 200 && !isObject(reply))) {
        await discard(reply)
        throw new ServiceError('not-found', `There is no object ${path}.`)
      }
      if (range) {
        await checkPartial(name, reply, range, what)
        return streamOf(checked(name, reply.body, { size: range.end - range.start }))
      }
      if (reply.status !== 200) throw await refusal(name, reply, what)
      const sha256 = reply.headers.get('x-checksum-sha256')?.toLowerCase()
      return streamOf(checked(name, reply.body, { size: lengthOf(reply), sha256 }))
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
      if (!(await stat(path, signal))) return
      const reply = await send(url(segmentsOf(path)), { method: 'DELETE', signal })
      if (reply.status !== 404 && !isDone(reply)) throw await refusal(name, reply, `${path} was removed`)
      await discard(reply)
    },
  }
}
