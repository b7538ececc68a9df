import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { every } from '#lib/async/every.ts'
import { defaultCost } from '#lib/auth/hash-methods.ts'
import { createKeyFiles, removeUnfinishedKeys } from '#lib/auth/key-keepers/key-files.ts'
import { createPasswords, type Passwords } from '#lib/auth/passwords.ts'
import type { TrustedServices } from '#lib/auth/assertions/trusted-issuers.ts'
import { createThreadHasher } from '#lib/auth/thread-hasher.ts'
import { loadPrivateKey, retirePrivateKey } from '#lib/auth/signing-key.ts'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeUnfinished } from '#lib/platform/files.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { type OpenedStore, openStore, getStoreFile } from '#lib/storage/open-store.ts'
import { listCopies } from '#lib/storage/copies/list.ts'
import { getRestoredMarkerFile } from '#lib/storage/copies/restore.ts'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'
import type { Config } from './config.ts'
import { readTrustedIssuers } from './hosts/control-link.ts'
import { openStateParts, type StateParts } from './state-parts.ts'

/** The content of a state folder, except the machines. The service opens it, or the command line if no service runs. */
export interface State extends StateParts {
  readonly store: OpenedStore
  readonly passwords: Pick<Passwords, 'pending'>
  /** The services whose assertions are accepted. */
  readonly trusted: TrustedServices | undefined
}

/** Returns the socket over which the command line reaches a running service. */
export const getSocketPath = ({ state }: Pick<Config, 'state'>): string => join(state, 'vmhost.sock')

const getKeyFolder = ({ state }: Pick<Config, 'state'>): string => join(state, 'keys')

/**
 * Creates a function that loads the secrets of the encrypted store. Returns undefined if no password is set. The function throws
 * `unavailable` if the store exists and the private key does not, because a new key could not open the store.
 */
export const createSealSecretsLoader = (config: Config): (() => Promise<SealSecrets>) | undefined => {
  const password = config.storage_password
  if (password === undefined) return undefined
  return async () => {
    const keyFile = join(getKeyFolder(config), 'signing.pem')
    if (existsSync(getStoreFile(config.state)) && !existsSync(keyFile))
      throw new ServiceError(
        'unavailable',
        `${keyFile} is missing, and the store may be encrypted for it. Nothing was changed; restore the key.`,
      )
    return { password, privateKey: await loadPrivateKey(createKeyFiles(getKeyFolder(config))) }
  }
}

/** The folder of the backups of the store. */
export const getBackupFolder = ({ state, backup_folder: backups }: Config): string => backups ?? join(state, 'backups')

/** Bytes of the disk that are reserved for essential commits on a full disk: enough for some thousand small ones. */
const reservedBytes = 4 << 20

/** Opens the state folder for this process alone. Throws `conflict` if another process has opened it. */
export const openState = async (config: Config, startWorker: StartWorker): Promise<State> => {
  await using stack = new AsyncDisposableStack()
  await makePrivateFolder(config.state)
  const store = stack.use(
    await openStore({ folder: config.state, seal: createSealSecretsLoader(config), reserve: reservedBytes }),
  )
  await removeUnfinishedKeys(getKeyFolder(config))
  for (const name of ['tls', 'ssh']) await removeUnfinished(join(config.state, name))
  if (store.plainCopy)
    getAreaLogger('storage').warning(
      'The store is encrypted now. When everything works, delete its copies that are not encrypted: {files}',
      {
        // They are older than the encryption.
        files: listCopies(config.state, getBackupFolder(config)).map(({ file }) => file),
      },
    )
  const keeper = createKeyFiles(getKeyFolder(config))
  const method = { kind: config.password_hash, cost: defaultCost[config.password_hash] }
  const hasher = createThreadHasher(startWorker)
  const passwords = stack.adopt(createPasswords({ hasher, method }), resource => resource.close())
  const restored = getRestoredMarkerFile(config.state)
  const trusted = readTrustedIssuers(config)
  const parts = stack.use(
    await openStateParts({
      store,
      keeper,
      passwords,
      every,
      auditLog: getAreaLogger('audit'),
      settings: config,
      trusted,
      restored: existsSync(restored),
      async replaceKey(next, putInPlace) {
        await store.addKey(next)
        // Only the old key opens earlier copies and backups of an encrypted store.
        if (store.sealed) await retirePrivateKey(keeper)
        await putInPlace()
        await store.removeOtherKeys(next)
      },
    }),
  )
  rmSync(restored, { force: true })
  const resources = stack.move()
  return { ...parts, store, passwords, trusted, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}
