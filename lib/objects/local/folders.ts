import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isInside, isSystemError } from '#lib/platform/files.ts'
import { openFolder, type OpenFolder } from '#lib/platform/open-folder.ts'

/** How the folders of a storage are opened. */
export interface FolderRules {
  /** The real path of the storage's own folder. */
  readonly root: string
  /** Throws for a real path that is not in the storage. */
  readonly check: (real: string) => void
  /** Whether a missing folder is created. */
  readonly create?: boolean
}

const openOrCreate = async (path: string, rules: FolderRules): Promise<OpenFolder> => {
  try {
    return await openFolder(await realpath(path))
  } catch (error) {
    if (!rules.create || !isSystemError(error, 'ENOENT') || dirname(path) === path) throw error
    await using above = await openFolderInside(dirname(path), rules)
    const created = above.at(basename(path))
    await mkdir(created, { mode: 0o700 }).catch((refused: unknown) => {
      if (!isSystemError(refused, 'EEXIST')) throw refused
    })
    // Awaited here, because the parent folder is closed at the end of this block.
    return await openFolder(created)
  }
}

/**
 * Opens a folder of a storage, following links, and then checks the open folder: a link may replace a folder at any moment,
 * also between a check of its path and its use. Throws what `check` throws, and errors of the operating system.
 */
export const openFolderInside = async (path: string, rules: FolderRules): Promise<OpenFolder> => {
  await using opened = new AsyncDisposableStack()
  const found = opened.use(await openOrCreate(path, rules))
  // Folders above the root are not in the storage, so only their path must not have changed.
  if (!isInside(path, rules.root) || found.path !== path) rules.check(found.path)
  opened.move()
  return found
}
