import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Audit } from '#lib/audit/audit.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Check } from '#lib/health/health.ts'

/** Writes one entry to the store and reads it back from the disk, unless it says that it is not well. Only the last one is kept. */
export const checkStore = (store: Pick<Store, 'log' | 'commit' | 'failure' | 'damage'>): Check => {
  const looks = store.log('health', z.object({ at: z.string() }))
  return async () => {
    const wrong = store.failure ?? store.damage
    if (wrong !== undefined) throw new Error(wrong)
    const at = new Date().toISOString()
    await store.commit([looks.append(() => ({ at })), looks.forget(looks.head())])
    const [last] = looks.readBack(looks.head() + 1, 1)
    if (last?.at !== at) throw new Error('what was written was not read back')
    return 'open'
  }
}

/** Looks whether entries of the audit are missing. */
export const checkAudit =
  (audit: Pick<Audit, 'failure'>): Check =>
  async () => {
    const wrong = audit.failure()
    if (wrong !== undefined) throw new Error(wrong)
    return 'kept'
  }

/** Writes a small file into a folder, reads it back and deletes it: the way that the files of machines take. */
export const checkFolder = (folder: string): Check => {
  const file = join(folder, '.health')
  return async () => {
    const text = new Date().toISOString()
    await writeFileAtomic(file, text)
    const found = await readFile(file, 'utf8')
    await rm(file, { force: true })
    if (found !== text) throw new Error(`what was written into ${folder} was not read back`)
    return 'readable and writable'
  }
}
