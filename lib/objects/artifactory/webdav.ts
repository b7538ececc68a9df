import { ServiceError } from '#lib/errors.ts'
import { type Member, parseMultistatus } from './multistatus.ts'
import type { Repository } from './repository.ts'
import { readText } from '../http/response-body.ts'
import { parseXml } from '../http/xml.ts'
import { drain, isSuccess, replyError } from '../http/response.ts'
import { createBody } from '../http/request-body.ts'

const propfindBody = Buffer.from(
  '<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>',
)

const getFolderUrl = (repository: Repository, segments: readonly string[]): URL =>
  new URL(`${repository.url(segments).href}/`)

/** Sends PROPFIND: gives the file or folder itself, with an empty name, and for depth 1 its members; none when it is missing. */
const propfind = async (
  repository: Repository,
  url: URL,
  depth: 0 | 1,
  signal: AbortSignal | undefined,
): Promise<readonly Member[]> => {
  const headers = { Depth: String(depth), 'Content-Type': 'application/xml' }
  const reply = await repository.send({ url, method: 'PROPFIND', headers, body: createBody(propfindBody), signal })
  if (reply.status === 404) {
    drain(reply)
    return []
  }
  if (reply.status !== 207) throw replyError(reply, 'a list of a folder')
  return parseMultistatus(await parseXml(repository.host, await readText(repository.host, reply.body)), url)
}

/** Lists the members of a folder; none when it is missing. Throws `upstream`. */
export const listMembers = async (
  repository: Repository,
  segments: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly Member[]> =>
  (await propfind(repository, getFolderUrl(repository, segments), 1, signal)).filter(({ name }) => name !== '')

/** Creates a folder of the repository and its missing parents. Throws `upstream`. */
export const createFolder = async (
  repository: Repository,
  segments: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const sendMkcol = () => repository.send({ url: getFolderUrl(repository, segments), method: 'MKCOL', signal })
  let reply = await sendMkcol()
  // 409: the parent is missing (RFC 4918 9.3.1).
  if (reply.status === 409 && segments.length > 0) {
    drain(reply)
    await createFolder(repository, segments.slice(0, -1), signal)
    reply = await sendMkcol()
  }
  // 405: the folder exists already.
  if (reply.status !== 405 && !isSuccess(reply))
    throw replyError(
      reply,
      segments.length > 0 ? `the folder ${segments.join('/')}` : 'the folder of the repository, which must exist',
    )
  drain(reply)
}

/** Moves a file and replaces the file at the target. Throws `conflict` when the target is a folder, and `upstream`. */
export const moveFile = async (
  repository: Repository,
  from: readonly string[],
  to: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  // A server would replace a folder with everything in it.
  const [existing] = await propfind(repository, repository.url(to), 0, signal)
  if (existing?.isFolder) throw new ServiceError('conflict', `${to.join('/')} is a folder, and cannot be an object.`)
  const headers = { Destination: repository.url(to).pathname, Overwrite: 'T' }
  // Not retried: a second request would not find what the first has moved.
  const reply = await repository.sendWithoutRetry({ url: repository.url(from), method: 'MOVE', headers, signal })
  if (reply.status === 405 || reply.status === 501) {
    drain(reply)
    throw new ServiceError(
      'upstream',
      `The storage ${repository.host} does not allow MOVE, which is needed to replace an object atomically.`,
    )
  }
  if (!isSuccess(reply)) throw replyError(reply, to.join('/'))
  drain(reply)
}
