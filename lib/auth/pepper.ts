import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'

const size = 32

/**
 * Reads the random bytes in `file`, which the first start creates. Throws `unavailable` when the file is damaged, because no
 * API key would match then.
 */
export const loadPepper = async (file: string): Promise<Uint8Array> => {
  const bytes = await readFile(file).catch(async (error: unknown) => {
    if (!isSystemError(error, 'ENOENT')) throw error
    const made = randomBytes(size)
    await makePrivateFolder(dirname(file))
    await writeFileAtomic(file, made)
    return made
  })
  if (bytes.length !== size)
    throw new ServiceError('unavailable', `${file} is damaged; put it back as it was, or API keys stop working.`)
  return bytes
}
