import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isSystemError } from '#lib/platform/files.ts'
import { hidden } from './object-path.ts'

/** What nobody has written to for so long belongs to no write that goes on. */
const abandoned = 7 * 86_400_000

export const gone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ELOOP'].some(code => isSystemError(error, code))

/** Where an object is while it is written; a later try finds it by the digest. Nobody can recognise what has none. */
export const partOf = (target: string, sha256: string | undefined): string =>
  join(dirname(target), `${hidden}${basename(target)}.${sha256 ?? crypto.randomUUID()}`)

const isPart = (name: string): boolean =>
  name.startsWith(hidden) && /\.([0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(name)

/**
 * Deletes what writes of an object have left unfinished, and what of others has been left in its folder long ago. Nobody
 * may be writing the object.
 */
export const sweepParts = async (target: string): Promise<void> => {
  const folder = dirname(target)
  const names = await readdir(folder).catch((error: unknown) => {
    if (gone(error)) return []
    throw error
  })
  for (const name of names.filter(isPart)) {
    const part = join(folder, name)
    const isOfTarget = name.slice(0, name.lastIndexOf('.')) === hidden + basename(target)
    const last = await stat(part).catch(() => undefined)
    if (isOfTarget || (last && Date.now() - last.mtimeMs > abandoned)) await rm(part, { force: true })
  }
}
