import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isSystemError } from '#lib/platform/files.ts'
import { hiddenPrefix } from '../port/object-path.ts'

/** No running write leaves its partial file untouched for so long. */
const abandonedAfterMs = 7 * 86_400_000

export const isMissingFile = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ELOOP'].some(code => isSystemError(error, code))

/** The name of an object while it is written. With a digest a later write finds it again; without one it gets a random name. */
export const getPartialName = (name: string, sha256: string | undefined): string =>
  `${hiddenPrefix}${name}.${sha256 ?? crypto.randomUUID()}`

const isPartialName = (name: string): boolean =>
  name.startsWith(hiddenPrefix) && /\.([0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(name)

/**
 * Deletes the partial files of an object, and the abandoned partial files of other objects in its folder. The object must not
 * be written at the same time.
 */
export const cleanUpPartialFiles = async (target: string): Promise<void> => {
  const folder = dirname(target)
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissingFile(error)) return []
    throw error
  })
  for (const name of names.filter(isPartialName)) {
    const partial = join(folder, name)
    const isOfTarget = name.slice(0, name.lastIndexOf('.')) === hiddenPrefix + basename(target)
    const found = await stat(partial).catch(() => undefined)
    if (isOfTarget || (found && Date.now() - found.mtimeMs > abandonedAfterMs)) await rm(partial, { force: true })
  }
}
