import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openCatalogContext } from '#lib/catalog/catalog.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { parseSigningKey } from '#lib/packs/sidecar.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { privateNetworks } from '#lib/platform/outgoing-addresses.ts'
import { describeSystemError } from '#lib/platform/system-errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { defaultLimits } from '#lib/remote-catalogs/remote-client.ts'
import type { CatalogPorts } from './catalog-services.ts'
import type { Config } from './config.ts'
import { getCatalogFolder, openStorageHostFiles } from './host-files.ts'
import { readControlAccess } from './hosts/control-link.ts'
import type { State } from './state.ts'

interface Parts extends Pick<State, 'store' | 'events'> {
  readonly startWorker: StartWorker
}

/** Opens the catalog of a state folder, with the storages of its packs. */
export const openCatalog = async (config: Config, { store, events, startWorker }: Parts): Promise<CatalogContext> =>
  openCatalogContext({
    store,
    publish: events.publish,
    startWorker,
    manifestsPerUser: config.manifests_per_user,
    storages: createHostStorages({
      folder: getCatalogFolder(config),
      hostFiles: await openStorageHostFiles(config),
      environment: process.env,
    }),
  })

/**
 * Reads the key that signs pushed packs, as PEM. Throws `invalid` with the name of the setting if the file is not such a key.
 */
export const readPackSigningKey = async ({
  pack_signing_key: file,
}: Pick<Config, 'pack_signing_key'>): Promise<string | undefined> => {
  if (file === undefined) return undefined
  const fail = (reason: string): never => {
    throw new ServiceError('invalid', `pack_signing_key is ${file}, which cannot be used: ${reason}`)
  }
  const pem = await readFile(file, 'utf8').catch((error: unknown) => fail(`${describeSystemError(error)}.`))
  try {
    parseSigningKey(pem)
  } catch (error) {
    fail(messageOf(error))
  }
  return pem
}

interface TransferParts extends Parts {
  /** The files and folders of the host that a push may read. */
  readonly hostFiles: HostFiles
  readonly signingKey: string | undefined
}

/** Opens the catalog of a state folder, and says what the settings say about its transfers. */
export const openCatalogPorts = async (
  config: Config,
  { hostFiles, signingKey, ...parts }: TransferParts,
): Promise<CatalogPorts> => ({
  catalog: await openCatalog(config, parts),
  cache: {
    folder: config.cache_folder ?? join(config.state, 'cache'),
    maxSize: config.cache_size * 2 ** 20,
    minFree: config.cache_keep_free * 2 ** 20,
  },
  workFolder: join(config.state, 'transfers'),
  outgoing: {
    transfers: createOutgoing({ allowed: privateNetworks }),
    managers: createOutgoing({ allowed: config.outgoing_addresses }),
  },
  remoteLimits: defaultLimits,
  startWorker: parts.startWorker,
  hostFiles,
  trust: { policy: config.pack_trust, keys: config.pack_trusted_keys },
  control: readControlAccess(config),
  signingKey,
  warn: text => getAreaLogger('catalog').warning('{text}', { text }),
})
