import { hash } from 'node:crypto'
import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Audit, openAudit } from '#lib/audit/audit.ts'
import { type Identity, openIdentity } from '#lib/auth/identity.ts'
import { openKeyRing } from '#lib/auth/key-ring.ts'
import { createPasswords, type Passwords } from '#lib/auth/passwords.ts'
import { defaultCost } from '#lib/auth/hash-methods.ts'
import { loadPepper } from '#lib/auth/pepper.ts'
import { retirePrivateKey, loadPrivateKey } from '#lib/auth/signing-key.ts'
import type { Config } from './config.ts'
import { readTrustedIssuers } from './control-link.ts'
import { type Events, openEvents } from '#lib/events/events.ts'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeUnfinished } from '#lib/platform/files.ts'
import { openIdempotency, type RunIdempotent } from '#lib/idempotency/idempotency.ts'
import { type ManagerRecords, openManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { getRestoredMarkerFile } from '#lib/storage/restore.ts'
import { type OpenedStore, openStore, getStoreFile } from '#lib/storage/open-store.ts'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'
import { openUserConfigs, type UserConfigs } from '#lib/user-configs/user-configs.ts'

/** The content of a state folder, except the machines. The service opens it, or the command line if no service runs. */
export interface State extends AsyncDisposable {
  readonly store: OpenedStore
  readonly identity: Identity
  readonly audit: Audit
  readonly userConfigs: UserConfigs
  readonly managerRecords: ManagerRecords
  readonly events: Events
  readonly passwords: Pick<Passwords, 'pending'>
  readonly idempotency: { readonly run: RunIdempotent }
}

/** Returns the socket over which the command line reaches a running service. */
export const getSocketPath = ({ state }: Pick<Config, 'state'>): string => join(state, 'vmhost.sock')

const getKeyFile = ({ state }: Pick<Config, 'state'>): string => join(state, 'keys', 'signing.pem')

/**
 * Creates a function that loads the secrets of the encrypted store. Returns undefined if no password is set. The function throws
 * `unavailable` if the store exists and the private key does not, because a new key could not open the store.
 */
export const createSealSecretsLoader = (config: Config): (() => Promise<SealSecrets>) | undefined => {
  const password = config.storage_password
  if (password === undefined) return undefined
  return async () => {
    const keyFile = getKeyFile(config)
    if (existsSync(getStoreFile(config.state)) && !existsSync(keyFile))
      throw new ServiceError(
        'unavailable',
        `${keyFile} is missing, and the store may be encrypted for it. Nothing was changed; restore the key.`,
      )
    return { password, privateKey: await loadPrivateKey(keyFile) }
  }
}

/** Lists the copies of the store that are not encrypted, because they are older than its encryption. */
const listPlainCopies = ({ state, backup_folder: backups = join(state, 'backups') }: Config): readonly string[] => [
  ...globSync('store.db.{plain,before-*}', { cwd: state }).map(name => join(state, name)),
  ...globSync('store-*.db', { cwd: backups }).map(name => join(backups, name)),
]

/** Bytes of the disk that are reserved for essential commits on a full disk: enough for some thousand small ones. */
const reservedBytes = 4 << 20

/** Opens the state folder for this process alone. Throws `conflict` if another process has opened it. */
export const openState = async (config: Config, startWorker: StartWorker): Promise<State> => {
  await using stack = new AsyncDisposableStack()
  await makePrivateFolder(config.state)
  const folder = join(config.state, 'keys')
  const store = stack.use(
    await openStore({ folder: config.state, seal: createSealSecretsLoader(config), reserve: reservedBytes }),
  )
  // `openKeyRing` does the same for the folder of the keys.
  for (const name of ['tls', 'ssh']) await removeUnfinished(join(config.state, name))
  if (store.plainCopy)
    getAreaLogger('storage').warning(
      'The store is encrypted now. When everything works, delete its copies that are not encrypted: {files}',
      {
        files: listPlainCopies(config),
      },
    )
  const privateKey = await loadPrivateKey(getKeyFile(config))
  const keys = await openKeyRing({
    folder,
    algorithm: config.token_algorithm,
    lifetime: config.token_lifetime,
    privateKey,
    async replace(next, putInPlace) {
      await store.addKey(next)
      // Only the old key opens earlier copies and backups of an encrypted store.
      if (store.sealed) await retirePrivateKey(getKeyFile(config), folder)
      await putInPlace()
      await store.removeOtherKeys(next)
    },
  })
  const restored = getRestoredMarkerFile(config.state)
  const events = await openEvents(store, {
    restored: existsSync(restored),
    retention: { days: config.events_days, entries: config.events_kept },
  })
  rmSync(restored, { force: true })
  stack.defer(() => events.close())
  const userConfigs = openUserConfigs(store, events.publish)
  const managerRecords = openManagerRecords(store)
  const method = { kind: config.password_hash, cost: defaultCost[config.password_hash] }
  const passwords = stack.adopt(createPasswords({ startWorker, method }), resource => resource.close())
  const pepper = await loadPepper(join(folder, 'api-keys.pepper'))
  const idempotency = stack.adopt(openIdempotency(store, pepper), resource => resource.close())
  const identity = await openIdentity({
    store,
    publish: events.publish,
    passwords,
    keys,
    pepper,
    sha256: text => hash('sha256', text),
    policy: {
      password: {
        minLength: config.password_min_length,
        maxBytes: config.password_max_length,
        requiredKinds: config.password_require,
      },
      lockout: {
        attempts: config.lockout_attempts,
        addressAttempts: config.lockout_address_attempts,
        delay: config.lockout_delay,
        maxDelay: config.lockout_limit,
        resetAfter: config.lockout_memory,
      },
      tokenLifetime: config.token_lifetime,
    },
    trusted: readTrustedIssuers(config),
    rootPassword: config.root_password,
    onRemoveUser: [userConfigs.prepareRemoval, managerRecords.prepareRemoval],
  })
  const audit = stack.adopt(
    openAudit({
      store,
      log: getAreaLogger('audit'),
      retention: { days: config.audit_days, entries: config.audit_kept },
    }),
    resource => resource.close(),
  )
  const resources = stack.move()
  return {
    store,
    identity,
    audit,
    userConfigs,
    managerRecords,
    events,
    passwords,
    idempotency,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
