import { globSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { getStoreFile } from '../open-store.ts'

/** A copy of the store. */
export interface StoreCopy {
  readonly file: string
  /** Why it was made. */
  readonly reason: string
  /** RFC 3339. */
  readonly made_at: string
  /** Bytes. */
  readonly size: number
}

const describeReason = (name: string): string | undefined => {
  const [, version] = /\.before-(\d+)$/.exec(name) ?? []
  if (version !== undefined) return `before the upgrade to version ${version} of the data`
  if (/\.before-restore-\w+$/.test(name)) return 'replaced by a restore'
  if (name.endsWith('.plain')) return 'before the encryption'
  return /^store-\w+\.db$/.test(name) ? 'backup' : undefined
}

/** Lists the copies of the store in a state folder and its folder of backups, the newest first. */
export const listCopies = (folder: string, backups: string): readonly StoreCopy[] => {
  const store = getStoreFile(folder)
  const files = [
    ...globSync(`${basename(store)}.{plain,before-*}`, { cwd: dirname(store) }).map(name => join(dirname(store), name)),
    ...globSync('store-*.db', { cwd: backups }).map(name => join(backups, name)),
  ]
  return files
    .flatMap(file => {
      const reason = describeReason(basename(file))
      if (reason === undefined) return []
      const { mtime, size } = statSync(file)
      return [{ file, reason, made_at: mtime.toISOString(), size }]
    })
    .toSorted((a, b) => (a.made_at < b.made_at ? 1 : -1))
}
