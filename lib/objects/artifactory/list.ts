import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { listMembers } from './webdav.ts'
import type { Repository } from './repository.ts'
import { createEndlessListingError } from '../http/listing.ts'
import { drain, readJson, parseModifiedAt, replyError } from '../http/response.ts'
import { isObjectPath } from '../port/object-path.ts'
import type { ObjectStat } from '../port/provider.ts'

const maxListBytes = 64 * 1024 * 1024

/** A file in the list of the API; some versions send numbers and booleans as text. */
const ListedFile = z.object({
  uri: z.string(),
  size: z.coerce.number().int().nonnegative(),
  lastModified: z.string().optional(),
  folder: z.union([z.boolean(), z.string()]).optional(),
  sha2: z.string().optional(),
})
const fileList = z.object({ files: z.array(z.unknown()) })

/** Parses the list of files. Stops at the first invalid file, because a bad server can send very many. */
const parseFileList = (reply: unknown): readonly z.infer<typeof ListedFile>[] | undefined => {
  const files: z.infer<typeof ListedFile>[] = []
  for (const file of fileList.safeParse(reply).data?.files ?? [undefined]) {
    const { data } = ListedFile.safeParse(file)
    if (!data) return undefined
    files.push(data)
  }
  return files
}

const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** Lists by the API, in one request; undefined when the edition of the server does not have it. */
const listByApi = async (
  repository: Repository,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<readonly ObjectStat[] | undefined> => {
  const url = repository.apiUrl(folder === '' ? [] : folder.split('/'), '?list&deep=1')
  const reply = await repository.send({ url, method: 'GET', signal })
  if (reply.status === 404 || reply.status === 400) {
    drain(reply)
    return reply.status === 404 ? [] : undefined
  }
  if (reply.status !== 200) throw replyError(reply, 'a list of a folder')
  const files = parseFileList(await readJson(reply, maxListBytes))
  if (!files)
    throw new ServiceError('upstream', `The storage ${repository.host} gave a list of files that cannot be read.`)
  return files
    .filter(file => String(file.folder) !== 'true')
    .map(({ uri, size, lastModified, sha2 }) => ({
      path: joinPath(folder, uri.replace(/^\//, '')),
      size,
      ...parseModifiedAt(lastModified),
      ...(sha2 !== undefined && { sha256: sha2 }),
    }))
}

/** Limits of one list and of nested folders: a server that reports a folder in each folder would else be listed for ever. */
const [maxFolders, maxDepth] = [100_000, 64]

/** Lists by WebDAV, folder by folder. */
async function* listByWebDav(
  repository: Repository,
  root: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ObjectStat> {
  const folders = [root]
  let requests = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (requests === maxFolders) throw createEndlessListingError(repository.host)
    requests += 1
    for (const { name, isFolder, ...stat } of await listMembers(
      repository,
      folder === '' ? [] : folder.split('/'),
      signal,
    )) {
      const path = joinPath(folder, name)
      if (!isObjectPath(path)) continue
      if (isFolder && path.split('/').length > maxDepth) throw createEndlessListingError(repository.host)
      if (isFolder) folders.push(path)
      else yield { path, ...stat }
    }
  }
}

/** Lists all objects in a folder and below it. Throws `upstream`. */
export async function* listObjects(
  repository: Repository,
  folder: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ObjectStat> {
  const found = repository.hasApi ? await listByApi(repository, folder, signal) : undefined
  if (found) yield* found.filter(({ path }) => isObjectPath(path))
  else yield* listByWebDav(repository, folder, signal)
}
