import { basename, dirname, join, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from '#lib/platform/files.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { resolveRealPath } from '#lib/platform/real-path.ts'
import { parseSettings } from '../port/connection.ts'
import { LocalSettings } from '../port/provider-settings.ts'
import type { StorageKind } from '../port/storage-kind.ts'
import { createLocalStorage } from './local-storage.ts'
import { withStorageErrors } from './storage-errors.ts'

export interface LocalOptions {
  /** The folder of local storage whose connection names none. */
  readonly folder: string
  /** Says which folders local storage may be in; `folder` is one of them. */
  readonly hostFiles: Pick<HostFiles, 'folder' | 'isProtected' | 'isProtectedFile'>
}

/** Creates the kind `local-storage`: folders of this host. */
export const createLocalKind = ({ folder, hostFiles }: LocalOptions): StorageKind => ({
  async open(storage) {
    const path = parseSettings(LocalSettings, storage).catalog_path || folder
    if (path.includes('\0') || !path.startsWith('/'))
      throw new ServiceError('invalid', 'The catalog_path of local storage is not an absolute path.')
    const real = await withStorageErrors(path, () => hostFiles.folder(path))
    return createLocalStorage(real, {
      // The folder itself may have become a link since it was checked.
      isExcluded: found => (found !== real && !isInside(real, found)) || hostFiles.isProtected(found),
      isServiceFile: hostFiles.isProtectedFile,
      create: path === folder,
    })
  },
  async resolveRoot(root) {
    const path = root || folder
    // A path that cannot be resolved has no objects.
    return resolveRealPath(path).catch(() => resolve(path))
  },
  resolveObject: path => resolveRealPath(path).catch(() => path),
  // Links may lead to one folder. The provider refuses a folder that cannot be resolved.
  async resolveTarget(path) {
    const parent = dirname(path)
    return join(await resolveRealPath(parent).catch(() => parent), basename(path))
  },
})
