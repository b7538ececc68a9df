import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { openCatalogContext } from '#lib/catalog/catalog.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import { createStorages } from '#lib/catalog/storages.ts'
import type { Config } from '#lib/config.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { State } from './state.ts'

const realFolder = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new ServiceError('invalid', `The allowed folder ${folder} cannot be used: ${messageOf(error)}`)
  }
}

/** The folders outside the state that may be used, as they really are. Throws `invalid` for one that cannot be. */
export const allowedFoldersOf = (config: Pick<Config, 'allowed_folders'>): readonly string[] =>
  config.allowed_folders.map(realFolder)

/** The catalog of a state folder, with the storages of its packs. */
export const openCatalog = (
  config: Config,
  { store, events }: Pick<State, 'store' | 'events'>,
): Promise<CatalogContext> =>
  openCatalogContext({
    store,
    tell: events.tell,
    storages: createStorages({
      folder: join(config.state, 'catalog'),
      allowed: allowedFoldersOf(config),
      state: config.state,
    }),
  })
