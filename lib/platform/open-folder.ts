import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveOpenPath, getDescriptorPath } from './open-file.ts'

/** A folder that is open: a link that takes its place leads nowhere. Disposing closes it. */
export interface OpenFolder extends AsyncDisposable {
  /** Where it lay when it was opened. Absolute, and no link is on the way. */
  readonly path: string
  readonly handle: FileHandle
  /** A path by which this process reaches `name` in the folder that is open, whatever lies at `path` by now. */
  at(name: string): string
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

/** Opens the folder `path`, which is no link itself. Throws what the system refuses with. */
export const openFolder = async (path: string): Promise<OpenFolder> => {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    const through = getDescriptorPath(handle, path)
    return {
      path: await resolveOpenPath(handle, path),
      handle,
      at: name => join(through, name),
      [Symbol.asyncDispose]: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}
