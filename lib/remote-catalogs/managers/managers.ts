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
 * Remote catalogs that users keep for themselves, or offer to others. What somebody may not see is not there for them.
 * Each throws `not-found` and `forbidden`; what keeps a manager also `invalid`, and `upstream` or `timeout` when its
 * catalog does not answer as one, for it is asked before an active one is kept.
 */
export interface CatalogManagers {
  list(caller: Principal): Promise<readonly CatalogManagerRecord[]>
  show(caller: Principal, id: string): Promise<CatalogManagerRecord>
  create(caller: Principal, request: CreateCatalogManager, again: Reauthenticate): Promise<CatalogManagerRecord>
  /** Throws `conflict` when the manager was changed meanwhile. */
  update(
    caller: Principal,
    id: string,
    changes: UpdateCatalogManager,
    again: Reauthenticate,
  ): Promise<CatalogManagerRecord>
  remove(caller: Principal, id: string): Promise<void>
  /**
   * With its credentials, for a request to it. Throws `conflict` when it is switched off.
   * @param toChange the claims of which one lets its catalog be changed by a manager of somebody else
   */
  getForUse(caller: Principal, id: string, toChange?: readonly ClaimName[]): Promise<CatalogManager>
}

/** Who the caller is by now: a catalog takes as long as it likes to answer. Throws `unauthenticated` for nobody. */
type Reauthenticate = () => Promise<Principal>

const most = 100

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

const usual = { internal: false, active: true, global: false, required_claims: [] }

/** A manager after a request: what that leaves out stays. Throws `invalid`. */
const applyRequest = (
  before: CatalogManager | undefined,
  base: object,
  request: UpdateCatalogManager,
): CatalogManager => {
  const { username: _, password: __, api_key: ___, ...open } = { ...before, ...request }
  return CatalogManager.parse({
    ...base,
    ...open,
    ...mergeCredentials(before, request),
    updated_at: new Date().toISOString(),
  })
}

export const createCatalogManagers = ({ store, records, publish, remote }: Options): CatalogManagers => {
  /** Whoever can see it is told, and could before; an event cannot ask for all of several claims. */
  const publishEvent = (what: string, { id, owner_id }: CatalogManager, versions: readonly CatalogManager[]): Write => {
    const open = versions.some(({ global, required_claims }) => global && required_claims.length === 0)
    return publish({
      type: 'system',
      message: `CATALOG_MANAGER_${what}`,
      body: { manager_id: id },
      audience: { claims: ['CATALOG_MANAGER_LIST', ...(open ? ['CATALOG_MANAGER_LIST_OWN'] : [])], users: [owner_id] },
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
        ? new ServiceError('conflict', 'The catalog manager was changed meanwhile. Look at it, then try again.')
        : error
    })

  return {
    list: async caller => (await records.list()).filter(manager => maySee(caller, manager)).map(toRecord),
    show: async (caller, id) => toRecord(await find(caller, id)),
    async create(caller, request, again) {
      if ((await records.list()).filter(({ owner_id }) => owner_id === caller.id).length >= most)
        throw new ServiceError('conflict', `You have ${most} catalog managers, which is all that one user can have.`)
      const base = { ...usual, id: crypto.randomUUID(), owner_id: caller.id, created_at: new Date().toISOString() }
      const made = applyRequest(undefined, base, request)
      checkMayPublish(caller, made, 'CREATE')
      await check(made, caller)
      checkMayPublish(await again(), made, 'CREATE')
      await commit([records.put(made), publishEvent('ADDED', made, [made])])
      return toRecord(made)
    },
    async update(caller, id, changes, again) {
      const before = await find(caller, id)
      checkMayChange(caller, before, 'UPDATE')
      const next = applyRequest(before, {}, changes)
      checkMayPublish(caller, next, 'UPDATE')
      await check(next, caller)
      const callerNow = await again()
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
    async getForUse(caller, id, toChange) {
      const manager = await find(caller, id)
      if (!mayUse(caller, manager))
        throw new ServiceError('forbidden', `The catalog manager ${manager.name} is its owner's to use.`)
      if (toChange) checkMayChangeBy(caller, manager, toChange)
      if (!manager.active)
        throw new ServiceError('conflict', `The catalog manager ${manager.name} is switched off: active is false.`)
      return manager
    },
  }
}
