import { globSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { ServiceError } from '#lib/errors.ts'
import { type HostFiles, openHostFiles } from '#lib/platform/host-files.ts'
import { logOf } from '#lib/platform/log.ts'
import { systemReason } from '#lib/platform/system-errors.ts'

/** The folder of the state whose files callers may name. */
export const attachFolderOf = ({ state }: Pick<Config, 'state'>): string => join(state, 'attach')

/** Where local storage is that names no folder of its own. */
export const catalogFolderOf = ({ state }: Pick<Config, 'state'>): string => join(state, 'catalog')

const realFolder = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new ServiceError(
      'invalid',
      `allowed_folders names ${folder}, which cannot be used: ${systemReason(error)}. Make the folder, or take it out of the setting.`,
    )
  }
}

/** The folders that the configuration names. Throws `invalid` for one that cannot be used. */
const configuredFolders = ({ allowed_folders: folders }: Config): readonly string[] | 'any' =>
  folders.includes('*') ? 'any' : folders.map(realFolder)

/** What is the service's own, and nobody else's. */
const protectedBy = (config: Config) => {
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

/** The guard of what machines may use of the host, and bundles be pushed from. */
export const openMachineHostFiles = async (config: Config): Promise<HostFiles> => {
  const attach = attachFolderOf(config)
  const configured = configuredFolders(config)
  if (configured === 'any')
    logOf('entry').warning(
      'allowed_folders is *: who may make machines or push can use every file of this host that the service can open.',
    )
  return openHostFiles({
    ...protectedBy(config),
    allowed: configured.length === 0 ? [attach] : configured,
    except: [attach],
  })
}

/** The guard of the folders that local storage of the catalog may be in. */
export const openStorageHostFiles = async (config: Config): Promise<HostFiles> => {
  const own = catalogFolderOf(config)
  const configured = configuredFolders(config)
  return openHostFiles({
    ...protectedBy(config),
    allowed: configured === 'any' ? 'any' : [own, ...configured],
    except: [own, attachFolderOf(config)],
  })
}
