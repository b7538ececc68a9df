import { ServiceError } from '#lib/errors.ts'
import type { Stored } from '#lib/storage/store.ts'
import { claimNames } from './claims.ts'
import type { Directory } from './directory.ts'
import type { User } from './directory-schemas.ts'
import { userEvent } from './identity-events.ts'
import type { PasswordRules } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from './principal.ts'

/** The people who can sign in, as the sign-in sees them. */
export interface Accounts {
  /** The user of this e-mail address, user name or id, in any case. */
  find(identifier: string): Promise<(User & Stored) | undefined>
  get(id: string): Promise<(User & Stored) | undefined>
  /** What the user of this id may do now; undefined when there is none. */
  principal(id: string): Promise<Principal | undefined>
  /**
   * Gives a user a new password, which the caller has checked, in place of the one that they have here. Tokens of the
   * old one are not believed any more. Throws `conflict` when it was changed meanwhile.
   */
  setPassword(user: User & Stored, password: string): Promise<void>
  /** Keeps the password and writes its hash by today's method. */
  rehash(user: User & Stored, password: string): Promise<void>
  /**
   * Makes sure that there is a root user. A password that is given becomes root's; it must satisfy the rules.
   * On the first start without one makes one up and gives it: nothing else ever shows it.
   */
  ensureRoot(password: string | undefined): Promise<{ readonly id: string; readonly newPassword?: string }>
}

interface Options {
  readonly directory: Pick<Directory, 'users' | 'commit' | 'tell' | 'find' | 'principal' | 'change'>
  readonly passwords: Passwords
  readonly rules: PasswordRules
}

export const createAccounts = ({ directory, passwords, rules }: Options): Accounts => {
  const { users, tell } = directory

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
    await directory.change(() => directory.commit([users.put(root), tell(userEvent('ADDED', id))]))
  }
  const setPassword = async ({ id, generation }: User & Stored, password: string): Promise<void> => {
    const hash = await passwords.hash(password)
    const change = (user: User): User => {
      // Whoever knew the old password must not undo that somebody took it away.
      if (user.generation !== generation)
        throw new ServiceError('conflict', 'The password was changed meanwhile; sign in again.')
      return { ...user, password: hash, generation: generation + 1, updated_at: new Date().toISOString() }
    }
    await users.update(id, change, [tell(userEvent('UPDATED', id))])
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
      // Somebody may have changed it meanwhile: then theirs stays.
      await users.update(id, user => (user.password === old ? { ...user, password: hash } : user))
    },
    async ensureRoot(password) {
      if (password !== undefined) rules.check(password, 'The password of root (VMHOST_ROOT_PASSWORD)')
      const root = await users.find('username', 'root')
      if (!root) {
        const id = crypto.randomUUID()
        const newPassword = password ?? rules.random()
        await createRoot(id, newPassword)
        return { id, ...(password === undefined && { newPassword }) }
      }
      if (password !== undefined && !(await passwords.verify(password, root.password)))
        await setPassword(root, password)
      return { id: root.id }
    },
  }
}
