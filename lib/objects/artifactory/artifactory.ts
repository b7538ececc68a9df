import type { Storage } from '../port/connection.ts'
import { ServiceError } from '#lib/errors.ts'
import { createSourceBody } from './source-body.ts'
import { createFolder, moveFile } from './webdav.ts'
import { listObjects } from './list.ts'
import { getIncompletePath, cleanUpUploads } from './incomplete-uploads.ts'
import { openRepository } from './repository.ts'
import { checkVersion } from '../port/check-version.ts'
import { createVerifiedStream } from '../http/response-body.ts'
import { followRedirects } from '../http/follow-redirects.ts'
import { createRangeHeader, getBodySize } from '../http/range.ts'
import { drain, getHeader, isSuccess, getContentLength, parseModifiedAt, replyError } from '../http/response.ts'
import type { Fetcher, Reply } from '../http/fetcher.ts'
import { splitObjectPath } from '../port/object-path.ts'
import type { ObjectStat, Provider, Source, WriteOptions } from '../port/provider.ts'

const isSha256 = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/**
 * Stores objects in a repository of an Artifactory, or below a folder of a plain WebDAV server. Neither can resume an upload,
 * so an interrupted write starts again; Artifactory is first asked whether it already has the bytes.
 * Throws `invalid` for an invalid connection, and `upstream` for an unexpected reply of the server.
 */
export const createArtifactory = async (storage: Storage, fetcher: Fetcher): Promise<Provider> => {
  const repository = await openRepository(storage, fetcher)
  const { host, hasApi, url, send, sendWithoutRetry } = repository
  const read = followRedirects(send)

  /** Whether a reply is that of an object. Artifactory sends checksums for objects, and none for folders. */
  const isObject = ({ status, headers }: Reply): boolean =>
    status === 200 && (!hasApi || ['md5', 'sha1', 'sha256'].some(kind => `x-checksum-${kind}` in headers))

  const stat = async (path: string, signal?: AbortSignal): Promise<ObjectStat | undefined> => {
    const reply = await send({ url: url(splitObjectPath(path)), method: 'HEAD', signal })
    drain(reply)
    // A server redirects from a folder to its name with a slash.
    const isFolder = (reply.headers.location ?? '').endsWith('/')
    if (reply.status === 404 || isFolder || (reply.status === 200 && !isObject(reply))) return undefined
    if (reply.status !== 200) throw replyError(reply, path)
    const size = getContentLength(reply)
    if (size === undefined) throw new ServiceError('upstream', `The storage ${host} does not say how large ${path} is.`)
    const [md5, sha256] = ['md5', 'sha256'].map(kind => getHeader(reply, `x-checksum-${kind}`)?.toLowerCase())
    return {
      path,
      size,
      ...parseModifiedAt(reply.headers['last-modified']),
      ...(md5 && { md5 }),
      ...(sha256 && { sha256 }),
      version: getHeader(reply, 'etag') ?? sha256 ?? `${reply.headers['last-modified']} ${size}`,
    }
  }

  const assertSuccess = async (reply: Reply, path: string): Promise<void> => {
    if (reply.status === 409 && hasApi) {
      drain(reply)
      throw new ServiceError('conflict', `The storage ${host} refused ${path}: the bytes do not match their SHA-256.`)
    }
    if (!isSuccess(reply)) throw replyError(reply, path)
    drain(reply)
  }

  /** Stores an object by its checksum alone; false when the server does not have its bytes. */
  const deployByChecksum = async (path: string, headers: object, signal?: AbortSignal): Promise<boolean> => {
    const known = { ...headers, 'X-Checksum-Deploy': 'true' }
    const reply = await send({ url: url(splitObjectPath(path)), method: 'PUT', headers: known, signal })
    if (reply.status === 404) {
      drain(reply)
      return false
    }
    await assertSuccess(reply, path)
    return true
  }

  const writeToArtifactory = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256, signal, onProgress } = options
    if (options.replaces !== undefined) checkVersion(path, await stat(path, signal), options)
    const headers = sha256 === undefined ? {} : { 'X-Checksum-Sha256': sha256 }
    if (sha256 !== undefined && (await deployByChecksum(path, headers, signal))) return onProgress?.(source.size)
    const body = createSourceBody(path, source, options)
    await assertSuccess(await send({ url: url(splitObjectPath(path)), method: 'PUT', headers, body, signal }), path)
  }

  /** Writes under a hidden name and then moves the file, because a WebDAV server may store an interrupted upload. */
  const writeToWebDav = async (path: string, source: Source, options: WriteOptions): Promise<void> => {
    const { sha256, signal } = options
    const segments = splitObjectPath(path)
    const folder = segments.slice(0, -1)
    const incompletePath = getIncompletePath(segments, sha256)
    const body = createSourceBody(path, source, options)
    await createFolder(repository, folder, signal)
    try {
      await assertSuccess(await send({ url: url(incompletePath), method: 'PUT', body, signal }), path)
      const stored = await send({ url: url(incompletePath), method: 'HEAD', signal })
      drain(stored)
      if (getContentLength(stored) !== source.size)
        throw new ServiceError(
          'upstream',
          `The storage ${host} stored ${getContentLength(stored)} of ${source.size} bytes of ${path}.`,
        )
      if (options.replaces !== undefined) checkVersion(path, await stat(path, signal), options)
      await moveFile(repository, incompletePath, segments, signal)
    } catch (error) {
      const signal = AbortSignal.timeout(5_000)
      await sendWithoutRetry({ url: url(incompletePath), method: 'DELETE', signal }).then(drain, () => undefined)
      throw error
    }
    // An object named by its digest always has the same bytes, so the next write replaces what an interrupted one has left.
    if (!isSha256(segments.at(-1) ?? '')) await cleanUpUploads(repository, segments, signal)
  }

  return {
    type: 'artifactory',
    stat,
    async read(path, { range, signal } = {}) {
      const headers = createRangeHeader(path, range)
      const reply = await read({ url: url(splitObjectPath(path)), method: 'GET', headers, signal })
      const { status, body } = reply
      const isFromServer = reply.url.origin === url([]).origin
      const isFolder = (reply.headers.location ?? '').endsWith('/')
      if (status === 404 || isFolder || (isFromServer && status === 200 && !isObject(reply))) {
        drain(reply)
        throw new ServiceError('not-found', `There is no object ${path}.`)
      }
      if (!isSuccess(reply)) throw replyError(reply, path)
      const [length, said] = [reply.headers['content-length'], reply.headers['content-range']]
      const found = { host: reply.url.host, what: path, length, range: said }
      // Not every server sends the size of a whole object.
      const size = range || length !== undefined ? getBodySize(body, found, range) : undefined
      const sha256 = range ? undefined : getHeader(reply, 'x-checksum-sha256')?.toLowerCase()
      return createVerifiedStream(body, { ...found, size, sha256, signal })
    },
    async write(path, source, options = {}) {
      splitObjectPath(path)
      await (hasApi ? writeToArtifactory : writeToWebDav)(path, source, options)
    },
    async *list(folder, signal) {
      if (folder !== '') splitObjectPath(folder)
      yield* listObjects(repository, folder, signal)
    },
    async remove(path, signal, { keepsUploads } = {}) {
      // Without this check Artifactory would delete a folder with everything in it.
      if (!hasApi && !keepsUploads) await cleanUpUploads(repository, splitObjectPath(path), signal)
      if (!(await stat(path, signal))) return
      const reply = await send({ url: url(splitObjectPath(path)), method: 'DELETE', signal })
      if (reply.status !== 404 && !isSuccess(reply)) throw replyError(reply, path)
      drain(reply)
    },
  }
}
