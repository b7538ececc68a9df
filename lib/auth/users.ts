import { isFault, ServiceError } from '#lib/errors.ts'
import type { CommitOptions, Stored, Write } from '#lib/storage/store.ts'
import { createUnknownClaimError } from './claim-records.ts'
import { canonicalizeClaim, claimNames } from '#lib/access/claims.ts'
import type { Directory } from './directory.ts'
import type { User } from './directory-schemas.ts'
import { listEffectiveClaims } from './effective-claims.ts'
import { checkClaimGrant, checkMayChange, checkRoleGrant } from './grants.ts'
import { createUserEvent, createUserGrantEvent } from './identity-events.ts'
import type { Lockout } from './lockout.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { PasswordRules } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { CreateUser, UpdateUser, UserRecord } from './user-schemas.ts'

/**
 * Manages the users. A reference is an id, an e-mail address or a user name. A caller who changes a user must hold all
 * rights of that user, and each right that is granted or revoked. The methods throw `not-found`, `forbidden` and `conflict`.
 */
export interface Users {
  list(): Promise<readonly UserRecord[]>
  show(reference: string): Promise<UserRecord>
  add(request: CreateUser, caller: Principal): Promise<UserRecord>
  update(reference: string, changes: UpdateUser, caller: Principal): Promise<void>
  /** Deletes a user with their API keys, settings and other documents. */
  remove(reference: string, caller: Principal): Promise<void>
  grantRole(reference: string, role: string, caller: Principal): Promise<void>
  revokeRole(reference: string, role: string, caller: Principal): Promise<void>
  grantClaim(reference: string, claim: string, caller: Principal): Promise<void>
  revokeClaim(reference: string, claim: string, caller: Principal): Promise<void>
  /** Ends the lock-out of a user. */
  unlock(reference: string, caller: Principal): Promise<void>
}

const compareByName = (a: User, b: User): number => (a.username.toLowerCase() < b.username.toLowerCase() ? -1 : 1)

/** The claims that every new user holds directly, as existing clients expect. */
const initialClaims = ['READ_ONLY', 'LIST_CATALOG_MANIFEST', 'LIST_PACKER_TEMPLATE', 'LIST_VM', 'LIST'] as const

type GrantKind = 'roles' | 'claims'

interface Options {
  readonly directory: Directory
  readonly passwords: Pick<Passwords, 'hash'>
  readonly rules: PasswordRules
  readonly lockout: Pick<Lockout, 'lockedUntil' | 'unlock'>
  readonly rootId: string
  /** Each gives the writes that delete a user's documents in another collection. */
  readonly onRemoveUser: readonly ((userId: string) => Promise<readonly Write[]>)[]
}

/** Manages the users of a directory. */
export const createUsers = (options: Options): Users => {
  const { directory, passwords, rules, lockout, rootId, onRemoveUser } = options

  const find = async (reference: string): Promise<User & Stored> => {
    const user = await directory.find(reference)
    if (!user) throw new ServiceError('not-found', `There is no user with the id, e-mail or user name ${reference}.`)
    return user
  }
  const toRecord = ({ id, username, name, email, roles, claims, ...user }: User): UserRecord => {
    const locked = lockout.lockedUntil(id)
    return {
      id,
      username,
      name,
      email,
      roles: [...roles],
      claims: [...claims],
      effective_claims: [...listEffectiveClaims({ roles, claims }, directory.roleTable())],
      isSuperUser: roles.includes('SUPER_USER'),
      ...(locked !== undefined && { locked_until: new Date(locked).toISOString() }),
      created_at: user.created_at,
      updated_at: user.updated_at,
    }
  }
  const checkCallerMayChange = (caller: Principal, user: User & Stored): void =>
    checkMayChange(caller, directory.principal(user), { rootId, roles: directory.roleTable() })

  /** The stored form of these names, each once. Throws unless each exists and the caller may grant it. */
  const resolveGrants = (kind: GrantKind, given: readonly string[], caller: Principal): string[] => {
    const names = given.map(name => canonicalizeClaim(normalizeName(name)))
    for (const name of names) {
      const exists = kind === 'roles' ? directory.roleTable().has(name) : directory.claimExists(name)
      if (!exists)
        throw kind === 'roles'
          ? new ServiceError('not-found', `There is no role ${name}.`)
          : createUnknownClaimError(name)
      if (kind === 'roles') checkRoleGrant(caller, name, directory.roleTable())
      else checkClaimGrant(caller, name)
    }
    return [...new Set(names)]
  }
  const createUserExistsError = (): ServiceError => {
    const message = 'A user with this user name or e-mail address exists already.'
    return new ServiceError('conflict', message, { extra: { error: 'user_exists', error_description: message } })
  }
  const commit = (writes: readonly Write[], options?: CommitOptions): Promise<void> =>
    directory.commit(writes, options).catch((error: unknown) => {
      throw isFault(error, 'conflict') ? createUserExistsError() : error
    })

  const grant = (kind: GrantKind, reference: string, given: string, caller: Principal): Promise<void> =>
    directory.runExclusive(async () => {
      const user = await find(reference)
      const [name = ''] = resolveGrants(kind, [given], caller)
      if (user[kind].includes(name)) throw new ServiceError('conflict', `${user.username} has ${name} already.`)
      await directory.commit([
        directory.users.put({ ...user, [kind]: [...user[kind], name], updated_at: new Date().toISOString() }),
        directory.publish(createUserGrantEvent(kind, 'ADDED', user.id, name)),
      ])
    })
  const revoke = (kind: GrantKind, reference: string, given: string, caller: Principal): Promise<void> =>
    directory.runExclusive(async () => {
      const user = await find(reference)
      const name = canonicalizeClaim(normalizeName(given))
      if (!user[kind].includes(name)) throw new ServiceError('not-found', `${user.username} does not have ${name}.`)
      if (user.id === rootId) throw new ServiceError('forbidden', 'Nothing can be taken from root.')
      checkCallerMayChange(caller, user)
      await directory.commit(
        [
          directory.users.put({
            ...user,
            [kind]: user[kind].filter(one => one !== name),
            updated_at: new Date().toISOString(),
          }),
          directory.publish(createUserGrantEvent(kind, 'REMOVED', user.id, name)),
        ],
        { essential: true },
      )
    })

  return {
    list: async () => (await directory.users.list()).toSorted(compareByName).map(toRecord),
    show: async reference => toRecord(await find(reference)),
    async add(request, caller) {
      if (request.password !== undefined) rules.check(request.password, 'The password')
      const hash = request.password && (await passwords.hash(request.password))
      return directory.runExclusive(async () => {
        // Operators may have removed the role USER.
        const defaultRoles = !request.is_super_user && directory.roleTable().has('USER') ? ['USER'] : []
        const superRoles = request.is_super_user ? ['USER', 'ADMIN', 'SUPER_USER'] : []
        const roles = resolveGrants('roles', [...(request.roles ?? defaultRoles), ...superRoles], caller)
        const requestedClaims = request.claims && resolveGrants('claims', request.claims, caller)
        const defaultClaims = initialClaims.filter(claim => caller.superUser || caller.claims.has(claim))
        const now = new Date().toISOString()
        const user: User = {
          id: crypto.randomUUID(),
          username: request.username,
          email: request.email,
          name: request.name,
          ...(hash && { password: hash }),
          generation: 0,
          roles,
          claims: request.is_super_user ? [...claimNames] : (requestedClaims ?? defaultClaims),
          created_at: now,
          updated_at: now,
        }
        await commit([directory.users.put(user), directory.publish(createUserEvent('ADDED', user.id))])
        return toRecord(user)
      })
    },
    async update(reference, { name, email, password }, caller) {
      if (password !== undefined) rules.check(password, 'The password')
      // Checked before hashing too, which takes a while, so that a forbidden change is refused at once.
      checkCallerMayChange(caller, await find(reference))
      const hash = password && (await passwords.hash(password))
      await directory.runExclusive(async () => {
        const user = await find(reference)
        checkCallerMayChange(caller, user)
        const next = {
          ...user,
          name: name ?? user.name,
          email: email ?? user.email,
          ...(hash && { password: hash, generation: user.generation + 1 }),
        }
        await commit(
          [
            directory.users.put({ ...next, updated_at: new Date().toISOString() }),
            directory.publish(createUserEvent('UPDATED', user.id)),
          ],
          { essential: hash !== undefined },
        )
      })
    },
    async remove(reference, caller) {
      await directory.runExclusive(async () => {
        const user = await find(reference)
        // Root stays, so that there is always a super user.
        if (user.id === rootId) throw new ServiceError('forbidden', 'root cannot be removed.')
        checkCallerMayChange(caller, user)
        const ownedWrites = await Promise.all(onRemoveUser.map(writes => writes(user.id)))
        await directory.commit(
          [directory.users.remove(user), ...ownedWrites.flat(), directory.publish(createUserEvent('REMOVED', user.id))],
          { essential: true },
        )
      })
    },
    grantRole: (reference, role, caller) => grant('roles', reference, role, caller),
    revokeRole: (reference, role, caller) => revoke('roles', reference, role, caller),
    grantClaim: (reference, claim, caller) => grant('claims', reference, claim, caller),
    revokeClaim: (reference, claim, caller) => revoke('claims', reference, claim, caller),
    async unlock(reference, caller) {
      const user = await find(reference)
      checkCallerMayChange(caller, user)
      await lockout.unlock(user.id)
    },
  }
}
