import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'

/** The path of the copy that a newer program made before it migrated a store of a version that this program knows. */
const findUpgradeCopy = (file: string, newest: number): string | undefined =>
  globSync(`${basename(file)}.before-*`, { cwd: dirname(file) })
    .map(name => ({ name, version: Number(/\.before-(\d+)$/.exec(name)?.[1]) }))
    .filter(({ version }) => version > newest)
    .toSorted((a, b) => a.version - b.version)
    .map(({ name }) => join(dirname(file), name))[0]

/** Throws `unavailable` for a store whose version of the data is above `newest`, the newest that this program knows. */
export const refuseNewer = (file: string, version: number, newest: number): void => {
  if (version <= newest) return
  const copy = findUpgradeCopy(file, newest)
  throw new ServiceError(
    'unavailable',
    `The store ${file} was written by a newer vmhost (version ${version} of the data, this one knows ${newest}). Nothing was changed; start the newer one${
      copy === undefined
        ? '.'
        : `, or go back to what was there before it came: vmhost storage restore ${copy} (what was changed since is not in it).`
    }`,
  )
}
