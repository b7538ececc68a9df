import { globSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { ServiceError } from '#lib/errors.ts'
import { type HostFiles, openHostFiles } from '#lib/platform/host-files.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { describeSystemError } from '#lib/platform/system-errors.ts'

/** Returns the folder of images and bundles that callers may name by default. */
export const getAttachFolder = ({ state }: Pick<Config, 'state'>): string => join(state, 'attach')

/** Returns the default folder of local storage. */
export const getCatalogFolder = ({ state }: Pick<Config, 'state'>): string => join(state, 'catalog')

/** Returns the real path of an allowed folder. Throws `invalid` if it cannot be used. */
const resolveFolder = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new ServiceError(
      'invalid',
      `allowed_folders names ${folder}, which cannot be used: ${describeSystemError(error)}. Create the folder, or remove it from the setting.`,
    )
  }
}

/** Returns the real paths of the allowed folders. Throws `invalid` for one that cannot be used. */
const resolveAllowedFolders = ({ allowed_folders: folders }: Config): readonly string[] | 'any' =>
  folders.includes('*') ? 'any' : folders.map(resolveFolder)

/** Returns the folders and files of the service itself, which callers must never reach. */
const getProtectedFiles = (config: Config) => {
  const { state, backup_folder, cache_folder, tls_certificate, tls_key, pack_signing_key, file } = config
  const isGiven = (path: string | undefined): path is string => path !== undefined
  return {
    folders: [state, backup_folder, cache_folder].filter(isGiven),
    files: () => [
      ...globSync(['store.db*', '{keys,tls}/**'], { cwd: state }).map(name => join(state, name)),
      ...[tls_certificate, tls_key, pack_signing_key, file].filter(isGiven),
    ],
  }
}

/** Opens the access to the host's files for machines and pushed bundles. Throws `invalid` for a folder that cannot be used. */
export const openMachineHostFiles = async (config: Config): Promise<HostFiles> => {
  const attach = getAttachFolder(config)
  const configured = resolveAllowedFolders(config)
  if (configured === 'any')
    getAreaLogger('entry').warning(
      'allowed_folders is *: users who may create machines or push can use every file of this host that the service can open.',
    )
  return openHostFiles({
    ...getProtectedFiles(config),
    allowed: configured.length === 0 ? [attach] : configured,
    except: [attach],
  })
}

/** Opens the access to the host's files for local storage of the catalog. Throws `invalid` for a folder that cannot be used. */
export const openStorageHostFiles = async (config: Config): Promise<HostFiles> => {
  const defaultFolder = getCatalogFolder(config)
  const configured = resolveAllowedFolders(config)
  return openHostFiles({
    ...getProtectedFiles(config),
    allowed: configured === 'any' ? 'any' : [defaultFolder, ...configured],
    except: [defaultFolder, getAttachFolder(config)],
  })
}
