import * as z from 'zod'
import type { Collection, Store, Stored } from '#lib/storage/store.ts'
import { canonicalClaim, claimNames, type RoleName, roleClaims } from './claims.ts'
import { checkPassword, randomPassword } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from './principal.ts'

const User = z.object({
  id: z.uuid(),
  username: z.string(),
  email: z.string(),
  name: z.string(),
  password: z.string().meta({ description: 'bcrypt hash' }),
  roles: z.array(z.string()),
  /** Those that the user holds beside those of the roles. */
  claims: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
})
export type User = z.infer<typeof User>

export interface Accounts {
  /** The user of this e-mail address, user name or id, in any case. */
  find(identifier: string): Promise<User | undefined>
  /** What the user of this id may do now; undefined when there is none. */
  principal(id: string): Promise<Principal | undefined>
  /**
   * Makes sure that there is a root user. A password that is given becomes root's; it must satisfy the rules.
   * On the first start without one makes one up and gives it: nothing else ever shows it.
   */
  ensureRoot(password: string | undefined): Promise<{ readonly created: boolean; readonly newPassword?: string }>
}

const effective = (user: User): Principal => ({
  id: user.id,
  username: user.username,
  email: user.email,
  roles: user.roles,
  claims: new Set([
    ...user.claims.map(canonicalClaim),
    ...user.roles.flatMap(role => roleClaims[role as RoleName] ?? []),
  ]),
  superUser: user.roles.includes('SUPER_USER'),
})

interface Options {
  readonly store: Store
  readonly passwords: Passwords
}

/** The people who can sign in. */
export const createAccounts = ({ store, passwords }: Options): Accounts => {
  const users: Collection<User> = store.collection('users', User, {
    unique: { email: user => user.email.toLowerCase(), username: user => user.username.toLowerCase() },
  })
  // A stored document never changes, so what follows from it holds as long as the document itself.
  const principals = new WeakMap<User & Stored, Principal>()

  const createRoot = async (password: string): Promise<void> => {
    const now = new Date().toISOString()
    const root: User = {
      id: crypto.randomUUID(),
      username: 'root',
      email: 'root@localhost',
      name: 'Root',
      password: await passwords.hash(password),
      roles: ['SUPER_USER'],
      claims: [...claimNames],
      created_at: now,
      updated_at: now,
    }
    await store.commit([users.put(root)])
  }

  return {
    async find(identifier) {
      const wanted = identifier.toLowerCase()
      return (await users.find('email', wanted)) ?? (await users.find('username', wanted)) ?? (await users.get(wanted))
    },
    async principal(id) {
      const user = await users.get(id)
      if (!user) return undefined
      const known = principals.get(user)
      if (known) return known
      const principal = effective(user)
      principals.set(user, principal)
      return principal
    },
    async ensureRoot(password) {
      if (password !== undefined) checkPassword(password, 'The password of root (VMHOST_ROOT_PASSWORD)')
      const root = await users.find('username', 'root')
      if (!root) {
        const newPassword = password ?? randomPassword()
        await createRoot(newPassword)
        return { created: true, ...(password === undefined && { newPassword }) }
      }
      if (password !== undefined && !(await passwords.verify(password, root.password))) {
        const hash = await passwords.hash(password)
        await users.update(root.id, user => ({ ...user, password: hash, updated_at: new Date().toISOString() }))
      }
      return { created: false }
    },
  }
}
