import { isFault, ServiceError } from '#lib/errors.ts'
import { claimRecord, serviceClaimRecords } from './claim-records.ts'
import { canonicalClaim } from './claims.ts'
import type { Directory } from './directory.ts'
import type { CustomClaim } from './directory-schemas.ts'
import { checkClaimGrant } from './grants.ts'
import { claimEvent } from './identity-events.ts'
import { normalName } from './names.ts'
import type { Principal } from './principal.ts'
import type { ClaimGroup, ClaimRecord, ClaimWithUsers, CreateClaim } from './role-schemas.ts'
import { holders } from './roles.ts'

/** The claims: those of the service, and those that operators add for their catalogs. A reference is a name, in any case. */
export interface Claims {
  list(): Promise<readonly ClaimWithUsers[]>
  /** By group and resource, in the order of the service's own table; added ones come last. */
  grouped(): Promise<readonly ClaimGroup[]>
  /** Throws `not-found`. */
  show(reference: string): Promise<ClaimWithUsers>
  /** Throws `conflict`. */
  add(request: CreateClaim): Promise<ClaimRecord>
  /**
   * Only an added one that no user holds; roles lose it, which only somebody can take from them who holds it. Throws
   * `forbidden`, `conflict`, `not-found`.
   */
  remove(reference: string, caller: Principal): Promise<void>
}

const records = async (directory: Directory): Promise<readonly ClaimRecord[]> => [
  ...serviceClaimRecords,
  ...(await directory.claims.list()).map(claim => claimRecord(claim.name, claim)),
]

/** Groups a list by one of its properties, in the order in which its values first appear. */
const groupsOf = <T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly [string, readonly T[]])[] => [
  ...Map.groupBy(items, keyOf),
]

export const createClaims = (directory: Directory): Claims => {
  const withUsers = async (claim: ClaimRecord): Promise<ClaimWithUsers> => ({
    ...claim,
    users: holders(await directory.users.list(), user => user.claims.includes(claim.name)),
  })
  const find = async (reference: string): Promise<ClaimRecord> => {
    const name = canonicalClaim(normalName(reference))
    const found = (await records(directory)).find(claim => claim.name === name)
    if (!found) throw new ServiceError('not-found', `There is no claim ${name}.`)
    return found
  }

  return {
    list: async () => Promise.all((await records(directory)).map(withUsers)),
    async grouped() {
      const all = await records(directory)
      return groupsOf(all, claim => claim.group ?? 'Custom').map(([group, claims]) => ({
        group,
        resources: groupsOf(claims, claim => claim.resource ?? claim.name).map(([resource, claims]) => ({
          resource,
          claims: [...claims],
        })),
      }))
    },
    show: async reference => withUsers(await find(reference)),
    add: ({ name: given, description }) =>
      directory.change(async () => {
        const name = canonicalClaim(normalName(given))
        const exists = (): ServiceError => new ServiceError('conflict', `The claim ${name} exists already.`)
        if (directory.claimExists(name)) throw exists()
        const claim: CustomClaim = { id: crypto.randomUUID(), name, ...(description && { description }) }
        await directory
          .commit([directory.claims.put(claim), directory.tell(claimEvent('ADDED', name))])
          .catch((error: unknown) => {
            throw isFault(error, 'conflict') ? exists() : error
          })
        return claimRecord(name, claim)
      }),
    remove: (reference, caller) =>
      directory.change(async () => {
        const { name, internal } = await find(reference)
        const claim = await directory.claims.find('name', name)
        if (internal || !claim)
          throw new ServiceError('forbidden', `The claim ${name} is part of the service and cannot be removed.`)
        const users = holders(await directory.users.list(), user => user.claims.includes(name))
        if (users.length > 0)
          throw new ServiceError(
            'conflict',
            `The claim ${name} is still held by ${users.map(({ username }) => username).join(', ')}. Take it from them first.`,
          )
        const roles = [...directory.roleTable().values()].filter(role => role.claims.includes(name))
        if (roles.length > 0) checkClaimGrant(caller, name)
        await directory.commit([
          directory.claims.remove(claim),
          directory.tell(claimEvent('REMOVED', name)),
          ...roles.map(role => directory.roles.put({ ...role, claims: role.claims.filter(one => one !== name) })),
        ])
      }),
  }
}
