import type { Tell } from '#lib/events/events.ts'
import type { Collection, Store, Stored } from '#lib/storage/store.ts'
import { claimNames, roleClaims } from './claims.ts'
import { CustomClaim, Role, User } from './directory-schemas.ts'
import { principalOf } from './effective.ts'
import type { Principal } from './principal.ts'

/** Users, roles and claims: what is kept of who may do what. */
export interface Directory {
  readonly users: Collection<User>
  readonly roles: Collection<Role>
  readonly claims: Collection<CustomClaim>
  readonly commit: Store['commit']
  readonly tell: Tell
  /** The user of this e-mail address, user name or id, in any case. */
  find(identifier: string): Promise<(User & Stored) | undefined>
  /** What a user may do now. */
  principal(user: User & Stored): Principal
  /** Every role, by its name. */
  roleTable(): ReadonlyMap<string, Role & Stored>
  /** Every claim that there is: those of the service and the added ones. */
  claimExists(name: string): boolean
  /**
   * Runs one change after the other: what a change has checked (the role exists, nobody holds it any more) still holds
   * when it commits, because this process is the only writer.
   */
  change<T>(work: () => Promise<T>): Promise<T>
}

/** The roles of a fresh installation; USER and ADMIN are the operator's to change. */
const firstRoles = (): readonly Role[] =>
  (['USER', 'ADMIN', 'SUPER_USER'] as const).map(name => ({
    id: crypto.randomUUID(),
    name,
    internal: name === 'SUPER_USER',
    claims: [...roleClaims[name]],
  }))

/** Opens the directory in a store; a store without any role gets those of a fresh installation. */
export const openDirectory = async (store: Store, tell: Tell): Promise<Directory> => {
  const users = store.collection('users', User, {
    unique: { email: user => user.email.toLowerCase(), username: user => user.username.toLowerCase() },
  })
  const roles = store.collection('roles', Role, { unique: { name: role => role.name } })
  const claims = store.collection('claims', CustomClaim, { unique: { name: claim => claim.name } })
  if ((await roles.list()).length === 0) await store.commit(firstRoles().map(role => roles.put(role)))

  let table: ReadonlyMap<string, Role & Stored> = new Map()
  let names: ReadonlySet<string> = new Set()
  // A stored document never changes, so what follows from it holds as long as itself and the roles.
  let principals = new WeakMap<User & Stored, Principal>()
  const refresh = async (): Promise<void> => {
    table = new Map((await roles.list()).map(role => [role.name, role]))
    names = new Set([...claimNames, ...(await claims.list()).map(claim => claim.name)])
    principals = new WeakMap()
  }
  await refresh()

  let last: Promise<unknown> = Promise.resolve()
  return {
    users,
    roles,
    claims,
    commit: store.commit,
    tell,
    async find(identifier) {
      const wanted = identifier.normalize('NFC').toLowerCase()
      return (await users.find('email', wanted)) ?? (await users.find('username', wanted)) ?? (await users.get(wanted))
    },
    principal(user) {
      const known = principals.get(user)
      if (known) return known
      const principal = principalOf(user, table)
      principals.set(user, principal)
      return principal
    },
    roleTable: () => table,
    claimExists: name => names.has(name),
    change(work) {
      const turn = last.then(work).finally(refresh)
      last = turn.catch(() => undefined)
      return turn
    },
  }
}
