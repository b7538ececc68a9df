import { isFault, ServiceError } from '#lib/errors.ts'
import type { Stored } from '#lib/storage/store.ts'
import { toClaimRecord, isServiceClaim, createUnknownClaimError } from './claim-records.ts'
import { canonicalizeClaim } from '#lib/access/claims.ts'
import type { Directory } from './directory.ts'
import type { Role, User } from './directory-schemas.ts'
import { checkClaimGrant } from './grants.ts'
import { createRoleClaimEvent, createRoleEvent } from './identity-events.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { ClaimRecord, CreateRole, RoleRecord } from './role-schemas.ts'
import type { Holder } from './user-schemas.ts'

/**
 * The roles. A reference is a name, in any case. A change of a role affects all its users, so the caller must hold each
 * claim that is added or removed. The methods throw `not-found`, `forbidden` and `conflict`.
 */
export interface Roles {
  list(): Promise<readonly RoleRecord[]>
  show(reference: string): Promise<RoleRecord>
  add(request: CreateRole, caller: Principal): Promise<RoleRecord>
  /** Removes a role that no user has. */
  remove(reference: string): Promise<void>
  addClaim(reference: string, claim: string, caller: Principal): Promise<ClaimRecord>
  removeClaim(reference: string, claim: string, caller: Principal): Promise<void>
}

/** Lists the users of a role or claim, as its record shows them. */
export const listHolders = (users: readonly User[], has: (user: User) => boolean): Holder[] =>
  users.filter(has).map(({ id, username, name, email }) => ({ id, username, name, email }))

const compareByName = (a: Role, b: Role): number => (a.name < b.name ? -1 : 1)

export const createRoles = (directory: Directory): Roles => {
  const find = (reference: string): Role & Stored => {
    const name = normalizeName(reference)
    const role = directory.roleTable().get(name)
    if (!role) throw new ServiceError('not-found', `There is no role ${name}.`)
    return role
  }
  const toRecord = async ({ name, description, internal, claims }: Role): Promise<RoleRecord> => ({
    id: name,
    name,
    ...(description && { description }),
    internal,
    claims: claims.map(claim => toClaimRecord(claim)),
    users: listHolders(await directory.users.list(), user => user.roles.includes(name)),
  })
  const refuseInternal = (role: Role): void => {
    if (role.internal)
      throw new ServiceError('forbidden', `The role ${role.name} is part of the service and cannot be changed.`)
  }
  const resolveClaim = (given: string, caller: Principal): string => {
    const name = canonicalizeClaim(normalizeName(given))
    if (!directory.claimExists(name)) throw createUnknownClaimError(name)
    checkClaimGrant(caller, name)
    return name
  }

  return {
    list: async () => Promise.all([...directory.roleTable().values()].toSorted(compareByName).map(toRecord)),
    show: async reference => toRecord(find(reference)),
    add: (request, caller) =>
      directory.runExclusive(async () => {
        const name = normalizeName(request.name)
        if (isServiceClaim(name))
          throw new ServiceError(
            'conflict',
            `${name} is the name of a claim of the service. Choose another for the role.`,
          )
        const claims = [...new Set(request.claims.map(claim => resolveClaim(claim, caller)))]
        const { description } = request
        const role: Role = {
          id: crypto.randomUUID(),
          name,
          ...(description && { description }),
          internal: false,
          claims,
        }
        await directory
          .commit([directory.roles.put(role), directory.publish(createRoleEvent('ADDED', name))])
          .catch((error: unknown) => {
            throw isFault(error, 'conflict') ? new ServiceError('conflict', `The role ${name} exists already.`) : error
          })
        return toRecord(role)
      }),
    remove: reference =>
      directory.runExclusive(async () => {
        const role = find(reference)
        refuseInternal(role)
        const users = listHolders(await directory.users.list(), user => user.roles.includes(role.name))
        if (users.length > 0)
          throw new ServiceError(
            'conflict',
            `The role ${role.name} is still that of ${users.map(({ username }) => username).join(', ')}. Take it from them first.`,
          )
        await directory.commit(
          [directory.roles.remove(role), directory.publish(createRoleEvent('REMOVED', role.name))],
          {
            essential: true,
          },
        )
      }),
    addClaim: (reference, claim, caller) =>
      directory.runExclusive(async () => {
        const role = find(reference)
        refuseInternal(role)
        const name = resolveClaim(claim, caller)
        if (role.claims.includes(name))
          throw new ServiceError('conflict', `The role ${role.name} has the claim ${name} already.`)
        await directory.commit([
          directory.roles.put({ ...role, claims: [...role.claims, name] }),
          directory.publish(createRoleClaimEvent('ADDED', role.name, name)),
        ])
        return toClaimRecord(name)
      }),
    removeClaim: (reference, claim, caller) =>
      directory.runExclusive(async () => {
        const role = find(reference)
        refuseInternal(role)
        const name = canonicalizeClaim(normalizeName(claim))
        if (!role.claims.includes(name))
          throw new ServiceError('not-found', `The role ${role.name} does not have the claim ${name}.`)
        checkClaimGrant(caller, name)
        await directory.commit(
          [
            directory.roles.put({ ...role, claims: role.claims.filter(one => one !== name) }),
            directory.publish(createRoleClaimEvent('REMOVED', role.name, name)),
          ],
          { essential: true },
        )
      }),
  }
}
