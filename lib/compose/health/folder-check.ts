import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check } from '#lib/health/health.ts'
import { readBounded } from '#lib/platform/bounded-file.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'

/** Creates a check that writes a small file into a folder, as machines do, reads it back and deletes it. */
export const createFolderCheck = (folder: string): Check => {
  const file = join(folder, '.health')
  return async () => {
    const text = new Date().toISOString()
    await writeFileAtomic(file, text)
    const found = (await readBounded(file)).toString('utf8')
    await rm(file, { force: true })
    if (found !== text) throw new Error(`what was written into ${folder} was not read back`)
    return 'readable and writable'
  }
}
