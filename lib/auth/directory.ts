import type { Publish } from '#lib/events/events.ts'
import type { Collection, Store, Stored } from '#lib/storage/store.ts'
import { claimNames, roleClaims } from '#lib/access/claims.ts'
import { CustomClaim, Role, User } from './directory-schemas.ts'
import { createPrincipal } from './effective-claims.ts'
import type { Principal } from '#lib/access/principal.ts'

/** The stored users, roles and claims, from which the rights of each user follow. */
export interface Directory {
  readonly users: Collection<User>
  readonly roles: Collection<Role>
  readonly claims: Collection<CustomClaim>
  readonly commit: Store['commit']
  readonly publish: Publish
  /** Finds a user by e-mail address, user name or id, in any case. */
  find(identifier: string): Promise<(User & Stored) | undefined>
  /** The present rights of a user. */
  principal(user: User & Stored): Principal
  /** All roles by name. */
  roleTable(): ReadonlyMap<string, Role & Stored>
  /** Whether a claim exists: one of the service, or an added one. */
  claimExists(name: string): boolean
  /**
   * Runs changes one after the other. This process is the only writer, so what a change has checked (that a role exists, that
   * nobody holds it) is still true when it commits.
   */
  runExclusive<T>(work: () => Promise<T>): Promise<T>
}

/** The roles of a new installation. Operators may change USER and ADMIN. */
const createInitialRoles = (): readonly Role[] =>
  (['USER', 'ADMIN', 'SUPER_USER'] as const).map(name => ({
    id: crypto.randomUUID(),
    name,
    internal: name === 'SUPER_USER',
    claims: [...roleClaims[name]],
  }))

const claimsOfRole = new Map<string, readonly string[]>(Object.entries(roleClaims))

/**
 * The roles as a newer version of the service has them: each has the claims that are new, as in a new installation. Nobody can change
 * SUPER_USER, so its claims are those that the last version knew. So operators can take a claim away for good.
 */
const addNewClaims = (stored: readonly (Role & Stored)[]): readonly (Role & Stored)[] => {
  const known = stored.find(({ name, internal }) => internal && name === 'SUPER_USER')?.claims
  if (!known) return []
  const added = roleClaims.SUPER_USER.filter(claim => !known.includes(claim))
  return stored.flatMap(role => {
    const own = claimsOfRole.get(role.name) ?? []
    const missing = added.filter(claim => own.includes(claim) && !role.claims.includes(claim))
    return missing.length > 0 ? [{ ...role, claims: [...role.claims, ...missing] }] : []
  })
}

/** Opens the directory of a store. A store without roles gets those of a new installation, one of an older version the new claims. */
export const openDirectory = async (store: Store, publish: Publish): Promise<Directory> => {
  const users = store.collection('users', User, {
    unique: { email: user => user.email.toLowerCase(), username: user => user.username.toLowerCase() },
  })
  const roles = store.collection('roles', Role, { unique: { name: role => role.name } })
  const claims = store.collection('claims', CustomClaim, { unique: { name: claim => claim.name } })
  const stored = await roles.list()
  const changed = stored.length === 0 ? createInitialRoles() : addNewClaims(stored)
  // A damaged store can be read, so that its rights apply as they are.
  if (changed.length > 0 && !store.failure) await store.commit(changed.map(role => roles.put(role)))

  let rolesByName: ReadonlyMap<string, Role & Stored> = new Map()
  let existingClaims: ReadonlySet<string> = new Set()
  // Stored documents are immutable, so a user's principal can be cached until roles or claims change.
  let principals = new WeakMap<User & Stored, Principal>()
  const refresh = async (): Promise<void> => {
    rolesByName = new Map((await roles.list()).map(role => [role.name, role]))
    existingClaims = new Set([...claimNames, ...(await claims.list()).map(claim => claim.name)])
    principals = new WeakMap()
  }
  await refresh()

  let lastChange: Promise<unknown> = Promise.resolve()
  return {
    users,
    roles,
    claims,
    commit: store.commit,
    publish,
    async find(identifier) {
      const wanted = identifier.normalize('NFC').toLowerCase()
      return (await users.find('email', wanted)) ?? (await users.find('username', wanted)) ?? (await users.get(wanted))
    },
    principal(user) {
      const known = principals.get(user)
      if (known) return known
      const principal = createPrincipal(user, rolesByName)
      principals.set(user, principal)
      return principal
    },
    roleTable: () => rolesByName,
    claimExists: name => existingClaims.has(name),
    runExclusive(work) {
      const result = lastChange.then(work).finally(refresh)
      lastChange = result.catch(() => undefined)
      return result
    },
  }
}
