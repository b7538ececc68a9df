import { realpath } from 'node:fs/promises'
import { dirname, join, basename } from 'node:path'
import { isSystemError } from './files.ts'

/** Returns the real path of a file or folder that may not exist yet. It follows the links in the part of the path that exists. */
export const resolveRealPath = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || dirname(path) === path) throw error
    return join(await resolveRealPath(dirname(path)), basename(path))
  }
}
