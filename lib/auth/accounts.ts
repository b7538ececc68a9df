import { ServiceError } from '#lib/errors.ts'
import type { Stored, Write } from '#lib/storage/store.ts'
import { claimNames } from '#lib/access/claims.ts'
import type { Directory } from './directory.ts'
import type { User } from './directory-schemas.ts'
import { createUserEvent } from './identity-events.ts'
import type { PasswordRules } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { RootConfirmation } from './root-confirmation.ts'

/** The users as sign-in needs them: found by name, with their passwords and rights. */
export interface Accounts {
  /** Finds a user by e-mail address, user name or id, in any case. */
  find(identifier: string): Promise<(User & Stored) | undefined>
  get(id: string): Promise<(User & Stored) | undefined>
  /** The present rights of a user; undefined when the user does not exist. */
  principal(id: string): Promise<Principal | undefined>
  /**
   * Replaces the password that `user` has with a new one, which the caller has checked against the rules. Tokens issued
   * for the old password end. `otherWrites` are part of the same commit. Throws `conflict` when the stored password has changed
   * since `user` was read.
   */
  setPassword(user: User & Stored, password: string, otherWrites?: readonly Write[]): Promise<void>
  /** Hashes the user's password again with the configured method. The password and the tokens stay valid. */
  rehash(user: User & Stored, password: string): Promise<void>
  /**
   * Makes sure that there is a root user. A given password becomes root's; it must satisfy the rules. Without one the
   * first start generates a password and returns it, which is the only time that it is shown. Throws `invalid`.
   */
  ensureRoot(password: string | undefined): Promise<{ readonly id: string; readonly newPassword?: string }>
}

interface Options {
  readonly directory: Pick<Directory, 'users' | 'commit' | 'publish' | 'find' | 'principal' | 'runExclusive'>
  readonly passwords: Passwords
  readonly rules: PasswordRules
  readonly confirmation: RootConfirmation
}

export const createAccounts = ({ directory, passwords, rules, confirmation }: Options): Accounts => {
  const { users, publish } = directory

  const createRoot = async (id: string, password: string): Promise<void> => {
    const now = new Date().toISOString()
    const root: User = {
      id,
      username: 'root',
      email: 'root@localhost',
      name: 'Root',
      password: await passwords.hash(password),
      generation: 0,
      roles: ['SUPER_USER'],
      claims: [...claimNames],
      created_at: now,
      updated_at: now,
    }
    await directory.runExclusive(() => directory.commit([users.put(root), publish(createUserEvent('ADDED', id))]))
  }
  const setPassword: Accounts['setPassword'] = async ({ id, generation }, password, otherWrites = []) => {
    const hash = await passwords.hash(password)
    const change = (user: User): User => {
      // A user who knows the old password must not undo a reset of it.
      if (user.generation !== generation)
        throw new ServiceError('conflict', 'The password was changed meanwhile; sign in again.')
      return { ...user, password: hash, generation: generation + 1, updated_at: new Date().toISOString() }
    }
    await users.update(id, change, [publish(createUserEvent('UPDATED', id)), ...otherWrites], {
      essential: true,
    })
  }

  const confirmRoot = async (id: string, password: string): Promise<void> => {
    const root = await users.get(id)
    // Without a user there is nothing to confirm: the next start creates root again.
    if (root) await confirmation.confirm(root, password)
  }

  return {
    find: directory.find,
    get: users.get,
    async principal(id) {
      const user = await users.get(id)
      return user && directory.principal(user)
    },
    setPassword,
    async rehash({ id, password: old }, password) {
      const hash = await passwords.hash(password)
      // A password that was changed since then is kept.
      await users.update(id, user => (user.password === old ? { ...user, password: hash } : user))
    },
    async ensureRoot(password) {
      if (password !== undefined) rules.check(password, 'The password of root (VMHOST_ROOT_PASSWORD)')
      const root = await users.find('username', 'root')
      if (!root) {
        const id = crypto.randomUUID()
        const newPassword = password ?? rules.generate()
        await createRoot(id, newPassword)
        if (password !== undefined) await confirmRoot(id, password)
        return { id, ...(password === undefined && { newPassword }) }
      }
      if (password !== undefined && !(await confirmation.isConfirmed(root, password))) {
        if (!(await passwords.verify(password, root.password))) await setPassword(root, password)
        await confirmRoot(root.id, password)
      }
      return { id: root.id }
    },
  }
}
