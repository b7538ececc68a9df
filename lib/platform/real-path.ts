import { realpath } from 'node:fs/promises'
import { dirname, join, basename } from 'node:path'
import { isSystemError } from './files.ts'

/** The real path of what may not be there yet: links in what is there of it are followed. */
export const realPathOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || dirname(path) === path) throw error
    return join(await realPathOf(dirname(path)), basename(path))
  }
}
