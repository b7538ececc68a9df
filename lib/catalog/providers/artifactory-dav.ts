import { ServiceError } from '#lib/errors.ts'
import { type Member, membersIn } from './artifactory-multistatus.ts'
import type { Site } from './artifactory-site.ts'
import { textOf } from './http/body.ts'
import { discard, isDone, refused } from './http/reply.ts'
import { bodyOf } from './http/sent-body.ts'

const question = Buffer.from(
  '<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>',
)

const folderUrl = (site: Site, segments: readonly string[]): URL => new URL(`${site.url(segments).href}/`)

/** What is at an address, as a member without a name, and with depth 1 its members; nothing when it is not there. */
const find = async (
  site: Site,
  url: URL,
  depth: 0 | 1,
  signal: AbortSignal | undefined,
): Promise<readonly Member[]> => {
  const headers = { Depth: String(depth), 'Content-Type': 'application/xml' }
  const reply = await site.send({ url, method: 'PROPFIND', headers, body: bodyOf(question), signal })
  if (reply.status === 404) {
    discard(reply)
    return []
  }
  if (reply.status !== 207) throw refused(reply, 'a list of a folder')
  return membersIn(await textOf(site.host, reply.body), url)
}

/** The members of a folder; none when it is not there. Throws `upstream`. */
export const membersOf = async (
  site: Site,
  segments: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly Member[]> =>
  (await find(site, folderUrl(site, segments), 1, signal)).filter(({ name }) => name !== '')

/** Makes a folder, and those above it down from the repository's, where they are missing. Throws `upstream`. */
export const makeFolder = async (
  site: Site,
  segments: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const make = () => site.send({ url: folderUrl(site, segments), method: 'MKCOL', signal })
  let reply = await make()
  // 409: the one above it is missing (RFC 4918 9.3.1).
  if (reply.status === 409 && segments.length > 0) {
    discard(reply)
    await makeFolder(site, segments.slice(0, -1), signal)
    reply = await make()
  }
  // 405: there it is.
  if (reply.status !== 405 && !isDone(reply))
    throw refused(
      reply,
      segments.length > 0 ? `the folder ${segments.join('/')}` : 'the folder of the repository, which has to be there',
    )
  discard(reply)
}

/** Gives a file another name, in the place of the file that has it already. Throws `conflict` and `upstream`. */
export const moveFile = async (
  site: Site,
  from: readonly string[],
  to: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  // A server would put a file in the place of a folder with all that is in it.
  const [there] = await find(site, site.url(to), 0, signal)
  if (there?.isFolder) throw new ServiceError('conflict', `${to.join('/')} is a folder, and cannot be an object.`)
  const headers = { Destination: site.url(to).pathname, Overwrite: 'T' }
  // Once: the second would not find what the first has moved.
  const reply = await site.sendOnce({ url: site.url(from), method: 'MOVE', headers, signal })
  if (reply.status === 405 || reply.status === 501) {
    discard(reply)
    throw new ServiceError(
      'upstream',
      `The storage ${site.host} allows no MOVE, without which no object is replaced as a whole.`,
    )
  }
  if (!isDone(reply)) throw refused(reply, to.join('/'))
  discard(reply)
}
