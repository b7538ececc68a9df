import { isFault, ServiceError } from '#lib/errors.ts'
import type { Stored, Write } from '#lib/storage/store.ts'
import { canonicalClaim, claimNames } from './claims.ts'
import type { Directory } from './directory.ts'
import type { User } from './directory-schemas.ts'
import { effectiveClaims } from './effective.ts'
import { checkClaimGrant, checkMayChange, checkRoleGrant } from './grants.ts'
import { userEvent, userGrantEvent } from './identity-events.ts'
import type { Lockout } from './lockout.ts'
import { normalName } from './names.ts'
import type { PasswordRules } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from './principal.ts'
import type { CreateUser, UpdateUser, UserRecord } from './user-schemas.ts'

/**
 * The users, for those who manage them. A reference is an id, an e-mail address or a user name. Whoever changes a user
 * must hold what that user holds, and what is given or taken. Each throws `not-found`, `forbidden` and `conflict`.
 */
export interface Users {
  list(): Promise<readonly UserRecord[]>
  show(reference: string): Promise<UserRecord>
  add(request: CreateUser, caller: Principal): Promise<UserRecord>
  update(reference: string, changes: UpdateUser, caller: Principal): Promise<void>
  /** Deletes a user with all that is theirs. */
  remove(reference: string, caller: Principal): Promise<void>
  giveRole(reference: string, role: string, caller: Principal): Promise<void>
  takeRole(reference: string, role: string, caller: Principal): Promise<void>
  giveClaim(reference: string, claim: string, caller: Principal): Promise<void>
  takeClaim(reference: string, claim: string, caller: Principal): Promise<void>
  /** Forgets failed sign-ins. */
  unlock(reference: string, caller: Principal): Promise<void>
}

const byName = (a: User, b: User): number => (a.username.toLowerCase() < b.username.toLowerCase() ? -1 : 1)

/** Held directly by every new user, as existing clients expect. */
const firstClaims = ['READ_ONLY', 'LIST_CATALOG_MANIFEST', 'LIST_PACKER_TEMPLATE', 'LIST_VM', 'LIST'] as const

type Kind = 'roles' | 'claims'

interface Options {
  readonly directory: Directory
  readonly passwords: Pick<Passwords, 'hash'>
  readonly rules: PasswordRules
  readonly lockout: Pick<Lockout, 'lockedUntil' | 'unlock'>
  readonly rootId: string
  /** What belongs to users elsewhere: the writes that delete it. */
  readonly belongings: readonly ((userId: string) => Promise<readonly Write[]>)[]
}

export const createUsers = (options: Options): Users => {
  const { directory, passwords, rules, lockout, rootId, belongings } = options

  const find = async (reference: string): Promise<User & Stored> => {
    const user = await directory.find(reference)
    if (!user) throw new ServiceError('not-found', `There is no user with the id, e-mail or user name ${reference}.`)
    return user
  }
  const recordOf = ({ id, username, name, email, roles, claims, ...user }: User): UserRecord => {
    const locked = lockout.lockedUntil(id)
    return {
      id,
      username,
      name,
      email,
      roles: [...roles],
      claims: [...claims],
      effective_claims: [...effectiveClaims({ roles, claims }, directory.roleTable())],
      isSuperUser: roles.includes('SUPER_USER'),
      ...(locked !== undefined && { locked_until: new Date(locked).toISOString() }),
      created_at: user.created_at,
      updated_at: user.updated_at,
    }
  }
  const checkChange = (caller: Principal, user: User & Stored): void =>
    checkMayChange(caller, directory.principal(user), { rootId, roles: directory.roleTable() })

  /** The names as they are kept, each of something that exists and that the caller may give or take. */
  const granted = (kind: Kind, given: readonly string[], caller: Principal): string[] => {
    const names = given.map(name => canonicalClaim(normalName(name)))
    for (const name of names) {
      const exists = kind === 'roles' ? directory.roleTable().has(name) : directory.claimExists(name)
      if (!exists) throw new ServiceError('not-found', `There is no ${kind === 'roles' ? 'role' : 'claim'} ${name}.`)
      if (kind === 'roles') checkRoleGrant(caller, name, directory.roleTable())
      else checkClaimGrant(caller, name)
    }
    return [...new Set(names)]
  }
  const taken = (): ServiceError => {
    const message = 'A user with this user name or e-mail address exists already.'
    return new ServiceError('conflict', message, { extra: { error: 'user_exists', error_description: message } })
  }
  const commit = (writes: readonly Write[]): Promise<void> =>
    directory.commit(writes).catch((error: unknown) => {
      throw isFault(error, 'conflict') ? taken() : error
    })

  const give = (kind: Kind, reference: string, given: string, caller: Principal): Promise<void> =>
    directory.change(async () => {
      const user = await find(reference)
      const [name = ''] = granted(kind, [given], caller)
      if (user[kind].includes(name)) throw new ServiceError('conflict', `${user.username} has ${name} already.`)
      await directory.commit([
        directory.users.put({ ...user, [kind]: [...user[kind], name], updated_at: new Date().toISOString() }),
        directory.tell(userGrantEvent(kind, 'ADDED', user.id, name)),
      ])
    })
  const take = (kind: Kind, reference: string, given: string, caller: Principal): Promise<void> =>
    directory.change(async () => {
      const user = await find(reference)
      const name = canonicalClaim(normalName(given))
      if (!user[kind].includes(name)) throw new ServiceError('not-found', `${user.username} does not have ${name}.`)
      if (user.id === rootId) throw new ServiceError('forbidden', 'Nothing can be taken from root.')
      checkChange(caller, user)
      await directory.commit([
        directory.users.put({
          ...user,
          [kind]: user[kind].filter(one => one !== name),
          updated_at: new Date().toISOString(),
        }),
        directory.tell(userGrantEvent(kind, 'REMOVED', user.id, name)),
      ])
    })

  return {
    list: async () => (await directory.users.list()).toSorted(byName).map(recordOf),
    show: async reference => recordOf(await find(reference)),
    async add(request, caller) {
      if (request.password !== undefined) rules.check(request.password, 'The password')
      const hash = request.password && (await passwords.hash(request.password))
      return directory.change(async () => {
        // USER is the operator's to change, and to remove.
        const usual = !request.is_super_user && directory.roleTable().has('USER') ? ['USER'] : []
        const superRoles = request.is_super_user ? ['USER', 'ADMIN', 'SUPER_USER'] : []
        const roles = granted('roles', [...(request.roles ?? usual), ...superRoles], caller)
        const asked = request.claims && granted('claims', request.claims, caller)
        const held = firstClaims.filter(claim => caller.superUser || caller.claims.has(claim))
        const now = new Date().toISOString()
        const user: User = {
          id: crypto.randomUUID(),
          username: request.username,
          email: request.email,
          name: request.name,
          ...(hash && { password: hash }),
          generation: 0,
          roles,
          claims: request.is_super_user ? [...claimNames] : (asked ?? held),
          created_at: now,
          updated_at: now,
        }
        await commit([directory.users.put(user), directory.tell(userEvent('ADDED', user.id))])
        return recordOf(user)
      })
    },
    async update(reference, { name, email, password }, caller) {
      if (password !== undefined) rules.check(password, 'The password')
      // Who may not is told so at once: hashing takes a while.
      checkChange(caller, await find(reference))
      const hash = password && (await passwords.hash(password))
      await directory.change(async () => {
        const user = await find(reference)
        checkChange(caller, user)
        const next = {
          ...user,
          name: name ?? user.name,
          email: email ?? user.email,
          ...(hash && { password: hash, generation: user.generation + 1 }),
        }
        await commit([
          directory.users.put({ ...next, updated_at: new Date().toISOString() }),
          directory.tell(userEvent('UPDATED', user.id)),
        ])
      })
    },
    async remove(reference, caller) {
      await directory.change(async () => {
        const user = await find(reference)
        // There is always one super user left: root.
        if (user.id === rootId) throw new ServiceError('forbidden', 'root cannot be removed.')
        checkChange(caller, user)
        const theirs = await Promise.all(belongings.map(writes => writes(user.id)))
        await directory.commit([
          directory.users.remove(user),
          ...theirs.flat(),
          directory.tell(userEvent('REMOVED', user.id)),
        ])
      })
    },
    giveRole: (reference, role, caller) => give('roles', reference, role, caller),
    takeRole: (reference, role, caller) => take('roles', reference, role, caller),
    giveClaim: (reference, claim, caller) => give('claims', reference, claim, caller),
    takeClaim: (reference, claim, caller) => take('claims', reference, claim, caller),
    async unlock(reference, caller) {
      const user = await find(reference)
      checkChange(caller, user)
      await lockout.unlock(user.id)
    },
  }
}
