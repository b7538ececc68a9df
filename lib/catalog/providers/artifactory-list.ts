import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { membersOf } from './artifactory-dav.ts'
import type { Site } from './artifactory-site.ts'
import { discard, jsonOf, modifiedAtOf, refused } from './http/reply.ts'
import { isObjectPath } from './object-path.ts'
import type { ObjectStat } from './provider.ts'

const longest = 64 * 1024 * 1024

/** The API's list of files; numbers and booleans are text in some versions. */
const ListedFile = z.object({
  uri: z.string(),
  size: z.coerce.number().int().nonnegative(),
  lastModified: z.string().optional(),
  folder: z.union([z.boolean(), z.string()]).optional(),
  sha2: z.string().optional(),
})
const fileList = z.object({ files: z.array(z.unknown()) })

/** No further than the first mistake: a bad server can make very many. */
const filesIn = (reply: unknown): readonly z.infer<typeof ListedFile>[] | undefined => {
  const files: z.infer<typeof ListedFile>[] = []
  for (const file of fileList.safeParse(reply).data?.files ?? [undefined]) {
    const { data } = ListedFile.safeParse(file)
    if (!data) return undefined
    files.push(data)
  }
  return files
}

const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** By the API, in one request; undefined where the server's edition does not have that. */
const listByApi = async (
  site: Site,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<readonly ObjectStat[] | undefined> => {
  const url = site.apiUrl(folder === '' ? [] : folder.split('/'), '?list&deep=1')
  const reply = await site.send({ url, method: 'GET', signal })
  if (reply.status === 404 || reply.status === 400) {
    discard(reply)
    return reply.status === 404 ? [] : undefined
  }
  if (reply.status !== 200) throw refused(reply, 'a list of a folder')
  const files = filesIn(await jsonOf(reply, longest))
  if (!files) throw new ServiceError('upstream', `The storage ${site.host} gave a list of files that cannot be read.`)
  return files
    .filter(file => String(file.folder) !== 'true')
    .map(({ uri, size, lastModified, sha2 }) => ({
      path: joined(folder, uri.replace(/^\//, '')),
      size,
      ...modifiedAtOf(lastModified),
      ...(sha2 !== undefined && { sha256: sha2 }),
    }))
}

/** Folder by folder. */
async function* listByDav(site: Site, folder: string, signal: AbortSignal | undefined): AsyncGenerator<ObjectStat> {
  for (const { name, isFolder, ...stat } of await membersOf(site, folder === '' ? [] : folder.split('/'), signal)) {
    const path = joined(folder, name)
    if (!isObjectPath(path)) continue
    if (isFolder) yield* listByDav(site, path, signal)
    else yield { path, ...stat }
  }
}

/** All objects of a folder and below it. Throws `upstream`. */
export async function* listObjects(
  site: Site,
  folder: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ObjectStat> {
  const found = site.hasApi ? await listByApi(site, folder, signal) : undefined
  if (found) yield* found.filter(({ path }) => isObjectPath(path))
  else yield* listByDav(site, folder, signal)
}
