import { isFault, ServiceError } from '#lib/errors.ts'
import { toClaimRecord, createUnknownClaimError, serviceClaimRecords } from './claim-records.ts'
import { canonicalizeClaim, plannedClaims, roleClaims } from '#lib/access/claims.ts'
import type { Directory } from './directory.ts'
import type { CustomClaim } from './directory-schemas.ts'
import { checkClaimGrant } from './grants.ts'
import { createClaimEvent } from './identity-events.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { ClaimGroup, ClaimRecord, ClaimWithUsers, CreateClaim } from './role-schemas.ts'
import { listHolders } from './roles.ts'

/** The claims: those of the service, and those that operators add for their catalogs. A reference is a name, in any case. */
export interface Claims {
  /** Lists all claims except those of planned features, which grant nothing yet. */
  list(): Promise<readonly ClaimWithUsers[]>
  /** Lists the same claims by group and resource, in the order of the service's table; added claims come last. */
  grouped(): Promise<readonly ClaimGroup[]>
  /** Throws `not-found`. */
  show(reference: string): Promise<ClaimWithUsers>
  /** Adds a claim. Throws `conflict` for a name that a claim or a role of the service has, because readers would confuse them. */
  add(request: CreateClaim): Promise<ClaimRecord>
  /**
   * Removes an added claim that no user holds directly. Roles lose it too; for that the caller must hold the claim. Throws
   * `not-found`, `conflict` while a user holds it, and `forbidden`.
   */
  remove(reference: string, caller: Principal): Promise<void>
}

const listAll = async (directory: Directory): Promise<readonly ClaimRecord[]> => [
  ...serviceClaimRecords,
  ...(await directory.claims.list()).map(claim => toClaimRecord(claim.name, claim)),
]

const listUsable = async (directory: Directory): Promise<readonly ClaimRecord[]> =>
  (await listAll(directory)).filter(({ name }) => !plannedClaims.has(name))

/** Groups items by a key. The groups are in the order in which their keys first appear. */
const groupBy = <T>(items: readonly T[], getKey: (item: T) => string): readonly (readonly [string, readonly T[]])[] => [
  ...Map.groupBy(items, getKey),
]

export const createClaims = (directory: Directory): Claims => {
  const addUsers = async (claim: ClaimRecord): Promise<ClaimWithUsers> => ({
    ...claim,
    users: listHolders(await directory.users.list(), user => user.claims.includes(claim.name)),
  })
  const find = async (reference: string): Promise<ClaimRecord> => {
    const name = canonicalizeClaim(normalizeName(reference))
    const found = (await listAll(directory)).find(claim => claim.name === name)
    if (!found) throw createUnknownClaimError(name)
    return found
  }

  return {
    list: async () => Promise.all((await listUsable(directory)).map(addUsers)),
    async grouped() {
      const all = await listUsable(directory)
      return groupBy(all, claim => claim.group ?? 'Custom').map(([group, claims]) => ({
        group,
        resources: groupBy(claims, claim => claim.resource ?? claim.name).map(([resource, claims]) => ({
          resource,
          claims: [...claims],
        })),
      }))
    },
    show: async reference => addUsers(await find(reference)),
    add: ({ name: given, description }) =>
      directory.runExclusive(async () => {
        const name = canonicalizeClaim(normalizeName(given))
        const createConflictError = (): ServiceError =>
          new ServiceError('conflict', `The claim ${name} exists already.`)
        if (directory.claimExists(name)) throw createConflictError()
        if (name in roleClaims)
          throw new ServiceError(
            'conflict',
            `${name} is the name of a role of the service. Choose another for the claim.`,
          )
        const claim: CustomClaim = { id: crypto.randomUUID(), name, ...(description && { description }) }
        await directory
          .commit([directory.claims.put(claim), directory.publish(createClaimEvent('ADDED', name))])
          .catch((error: unknown) => {
            throw isFault(error, 'conflict') ? createConflictError() : error
          })
        return toClaimRecord(name, claim)
      }),
    remove: (reference, caller) =>
      directory.runExclusive(async () => {
        const { name, internal } = await find(reference)
        const claim = await directory.claims.find('name', name)
        if (internal || !claim)
          throw new ServiceError('forbidden', `The claim ${name} is part of the service and cannot be removed.`)
        const users = listHolders(await directory.users.list(), user => user.claims.includes(name))
        if (users.length > 0)
          throw new ServiceError(
            'conflict',
            `The claim ${name} is still held by ${users.map(({ username }) => username).join(', ')}. Take it from them first.`,
          )
        const roles = [...directory.roleTable().values()].filter(role => role.claims.includes(name))
        if (roles.length > 0) checkClaimGrant(caller, name)
        await directory.commit(
          [
            directory.claims.remove(claim),
            directory.publish(createClaimEvent('REMOVED', name)),
            ...roles.map(role => directory.roles.put({ ...role, claims: role.claims.filter(one => one !== name) })),
          ],
          { essential: true },
        )
      }),
  }
}
