import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'
import { mask } from '../server.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import { mergeCredentials } from './credentials.ts'
import type { ManagerRecords } from './records.ts'
import type { RemoteClient } from '../remote-client.ts'
import { checkMayChange, checkMayChangeBy, checkMayPublish, maySee, mayUse } from './rights.ts'
import { CatalogManager, type CatalogManagerRecord } from './schemas.ts'
import type { CreateCatalogManager, UpdateCatalogManager } from './schemas.ts'

/**
 * Catalog managers: remote catalogs that users store for themselves, or offer to others. A manager that a caller may not see
 * does not exist for that caller. Each method throws `not-found` and `forbidden`. `create` and `update` throw `invalid` too, and
 * `upstream` or `timeout` when the remote catalog does not answer as one: they check an active manager before they store it.
 */
export interface CatalogManagers {
  list(caller: Principal): Promise<readonly CatalogManagerRecord[]>
  show(caller: Principal, id: string): Promise<CatalogManagerRecord>
  create(
    caller: Principal,
    request: CreateCatalogManager,
    reauthenticate: Reauthenticate,
  ): Promise<CatalogManagerRecord>
  /** Throws `conflict` when the manager was changed meanwhile. */
  update(
    caller: Principal,
    id: string,
    changes: UpdateCatalogManager,
    reauthenticate: Reauthenticate,
  ): Promise<CatalogManagerRecord>
  remove(caller: Principal, id: string): Promise<void>
  /**
   * Gives a manager with its credentials. Throws `conflict` when it is switched off. `changeClaims` are given for a change of
   * its catalog: if the manager is somebody else's, the caller needs one of them.
   */
  getForUse(caller: Principal, id: string, changeClaims?: readonly ClaimName[]): Promise<CatalogManager>
}

/** Gives the caller with the present rights, because the check of a remote catalog can take long. Throws `unauthenticated`. */
type Reauthenticate = () => Promise<Principal>

const maxPerUser = 100

const toRecord = ({ username, password, api_key, ...manager }: CatalogManager): CatalogManagerRecord => ({
  id: manager.id,
  name: manager.name,
  url: manager.url,
  internal: manager.internal,
  active: manager.active,
  authentication_method: manager.authentication_method,
  ...(username !== undefined && { username: mask }),
  ...(password !== undefined && { password: mask }),
  ...(api_key !== undefined && { api_key: mask }),
  global: manager.global,
  required_claims: [...manager.required_claims],
  owner_id: manager.owner_id,
  created_at: manager.created_at,
  updated_at: manager.updated_at,
})

interface Options {
  readonly store: Store
  readonly records: ManagerRecords
  readonly publish: Publish
  readonly remote: Pick<RemoteClient, 'check'>
}

const defaults = { internal: false, active: true, global: false, required_claims: [] }

/** Gives a manager as a request makes it. Members that the request leaves out stay. Throws `invalid`. */
const applyRequest = (
  before: CatalogManager | undefined,
  base: object,
  request: UpdateCatalogManager,
): CatalogManager => {
  const { username: _, password: __, api_key: ___, ...fields } = { ...before, ...request }
  return CatalogManager.parse({
    ...base,
    ...fields,
    ...mergeCredentials(before, request),
    updated_at: new Date().toISOString(),
  })
}

export const createCatalogManagers = ({ store, records, publish, remote }: Options): CatalogManagers => {
  /**
   * Publishes an event to those who can see one of the versions of a manager. An event cannot require several claims, so the
   * holders of the claims of a global manager do not get it.
   */
  const publishEvent = (
    event: string,
    { id, owner_id }: CatalogManager,
    versions: readonly CatalogManager[],
  ): Write => {
    const isOpen = versions.some(({ global, required_claims }) => global && required_claims.length === 0)
    return publish({
      type: 'system',
      message: `CATALOG_MANAGER_${event}`,
      body: { manager_id: id },
      audience: {
        claims: ['CATALOG_MANAGER_LIST', ...(isOpen ? ['CATALOG_MANAGER_LIST_OWN'] : [])],
        users: [owner_id],
      },
    })
  }
  const find = async (caller: Principal, id: string): Promise<CatalogManager & Stored> => {
    const found = await records.get(id.toLowerCase())
    if (!found || !maySee(caller, found))
      throw new ServiceError('not-found', `There is no catalog manager with the id ${id}.`)
    return found
  }
  const check = async (manager: CatalogManager, caller: Principal): Promise<void> => {
    if (manager.active) await remote.check(manager, caller.id)
  }
  const commit = (writes: readonly Write[]): Promise<void> =>
    store.commit(writes).catch((error: unknown) => {
      throw isFault(error, 'conflict')
        ? new ServiceError(
            'conflict',
            'The catalog manager was changed meanwhile. Read it again, then repeat the change.',
          )
        : error
    })

  return {
    list: async caller => (await records.list()).filter(manager => maySee(caller, manager)).map(toRecord),
    show: async (caller, id) => toRecord(await find(caller, id)),
    async create(caller, request, reauthenticate) {
      if ((await records.list()).filter(({ owner_id }) => owner_id === caller.id).length >= maxPerUser)
        throw new ServiceError(
          'conflict',
          `You have ${maxPerUser} catalog managers, which is all that one user can have.`,
        )
      const base = { ...defaults, id: crypto.randomUUID(), owner_id: caller.id, created_at: new Date().toISOString() }
      const created = applyRequest(undefined, base, request)
      checkMayPublish(caller, created, 'CREATE')
      await check(created, caller)
      checkMayPublish(await reauthenticate(), created, 'CREATE')
      await commit([records.put(created), publishEvent('ADDED', created, [created])])
      return toRecord(created)
    },
    async update(caller, id, changes, reauthenticate) {
      const before = await find(caller, id)
      checkMayChange(caller, before, 'UPDATE')
      const next = applyRequest(before, {}, changes)
      checkMayPublish(caller, next, 'UPDATE')
      await check(next, caller)
      const callerNow = await reauthenticate()
      checkMayChange(callerNow, before, 'UPDATE')
      checkMayPublish(callerNow, next, 'UPDATE')
      await commit([records.put({ ...next, rev: before.rev }), publishEvent('UPDATED', next, [before, next])])
      return toRecord(next)
    },
    async remove(caller, id) {
      const manager = await find(caller, id)
      checkMayChange(caller, manager, 'DELETE')
      await commit([records.remove(manager), publishEvent('REMOVED', manager, [manager])])
    },
    async getForUse(caller, id, changeClaims) {
      const manager = await find(caller, id)
      if (!mayUse(caller, manager))
        throw new ServiceError('forbidden', `The catalog manager ${manager.name} can be used by its owner only.`)
      if (changeClaims) checkMayChangeBy(caller, manager, changeClaims)
      if (!manager.active)
        throw new ServiceError('conflict', `The catalog manager ${manager.name} is switched off: active is false.`)
      return manager
    },
  }
}
