import { isFault, ServiceError } from '#lib/errors.ts'
import type { Stored } from '#lib/storage/store.ts'
import { claimRecord } from './claim-records.ts'
import { canonicalClaim } from './claims.ts'
import type { Directory } from './directory.ts'
import type { Role, User } from './directory-schemas.ts'
import { checkClaimGrant } from './grants.ts'
import { roleClaimEvent, roleEvent } from './identity-events.ts'
import { normalName } from './names.ts'
import type { Principal } from './principal.ts'
import type { ClaimRecord, CreateRole, RoleRecord } from './role-schemas.ts'
import type { Holder } from './user-schemas.ts'

/**
 * The roles. A reference is a name, in any case. A change of a role acts on all who have it, so the caller must hold each
 * claim that is added or taken away. Each throws `not-found`, `forbidden` and `conflict`.
 */
export interface Roles {
  list(): Promise<readonly RoleRecord[]>
  show(reference: string): Promise<RoleRecord>
  add(request: CreateRole, caller: Principal): Promise<RoleRecord>
  /** Only one that nobody has. */
  remove(reference: string): Promise<void>
  addClaim(reference: string, claim: string, caller: Principal): Promise<ClaimRecord>
  removeClaim(reference: string, claim: string, caller: Principal): Promise<void>
}

/** What is shown of the users of a role or claim. */
export const holders = (users: readonly User[], has: (user: User) => boolean): Holder[] =>
  users.filter(has).map(({ id, username, name, email }) => ({ id, username, name, email }))

const byName = (a: Role, b: Role): number => (a.name < b.name ? -1 : 1)

export const createRoles = (directory: Directory): Roles => {
  const find = (reference: string): Role & Stored => {
    const name = normalName(reference)
    const role = directory.roleTable().get(name)
    if (!role) throw new ServiceError('not-found', `There is no role ${name}.`)
    return role
  }
  const recordOf = async ({ name, description, internal, claims }: Role): Promise<RoleRecord> => ({
    id: name,
    name,
    ...(description && { description }),
    internal,
    claims: claims.map(claim => claimRecord(claim)),
    users: holders(await directory.users.list(), user => user.roles.includes(name)),
  })
  const refuseInternal = (role: Role): void => {
    if (role.internal)
      throw new ServiceError('forbidden', `The role ${role.name} is part of the service and cannot be changed.`)
  }
  const known = (given: string, caller: Principal): string => {
    const name = canonicalClaim(normalName(given))
    if (!directory.claimExists(name)) throw new ServiceError('not-found', `There is no claim ${name}.`)
    checkClaimGrant(caller, name)
    return name
  }

  return {
    list: async () => Promise.all([...directory.roleTable().values()].toSorted(byName).map(recordOf)),
    show: async reference => recordOf(find(reference)),
    add: (request, caller) =>
      directory.change(async () => {
        const name = normalName(request.name)
        const claims = [...new Set(request.claims.map(claim => known(claim, caller)))]
        const { description } = request
        const role: Role = {
          id: crypto.randomUUID(),
          name,
          ...(description && { description }),
          internal: false,
          claims,
        }
        await directory
          .commit([directory.roles.put(role), directory.tell(roleEvent('ADDED', name))])
          .catch((error: unknown) => {
            throw isFault(error, 'conflict') ? new ServiceError('conflict', `The role ${name} exists already.`) : error
          })
        return recordOf(role)
      }),
    remove: reference =>
      directory.change(async () => {
        const role = find(reference)
        refuseInternal(role)
        const users = holders(await directory.users.list(), user => user.roles.includes(role.name))
        if (users.length > 0)
          throw new ServiceError(
            'conflict',
            `The role ${role.name} is still that of ${users.map(({ username }) => username).join(', ')}. Take it from them first.`,
          )
        await directory.commit([directory.roles.remove(role), directory.tell(roleEvent('REMOVED', role.name))])
      }),
    addClaim: (reference, claim, caller) =>
      directory.change(async () => {
        const role = find(reference)
        refuseInternal(role)
        const name = known(claim, caller)
        if (role.claims.includes(name))
          throw new ServiceError('conflict', `The role ${role.name} has the claim ${name} already.`)
        await directory.commit([
          directory.roles.put({ ...role, claims: [...role.claims, name] }),
          directory.tell(roleClaimEvent('ADDED', role.name, name)),
        ])
        return claimRecord(name)
      }),
    removeClaim: (reference, claim, caller) =>
      directory.change(async () => {
        const role = find(reference)
        refuseInternal(role)
        const name = canonicalClaim(normalName(claim))
        if (!role.claims.includes(name))
          throw new ServiceError('not-found', `The role ${role.name} does not have the claim ${name}.`)
        checkClaimGrant(caller, name)
        await directory.commit([
          directory.roles.put({ ...role, claims: role.claims.filter(one => one !== name) }),
          directory.tell(roleClaimEvent('REMOVED', role.name, name)),
        ])
      }),
  }
}
