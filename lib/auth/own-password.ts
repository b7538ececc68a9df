import { ServiceError } from '#lib/errors.ts'
import type { Accounts } from './accounts.ts'
import type { Lockout } from './lockout.ts'
import type { PasswordRules } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from '#lib/access/principal.ts'

/**
 * Changes the caller's own password and ends all their tokens. Throws `forbidden` when the present password is wrong (which
 * counts as a failed sign-in), `locked-out`, `invalid` when the new password is too weak, and `conflict` when the password
 * was changed at the same time.
 */
export type ChangeOwnPassword = (
  passwords: { readonly password: string; readonly new_password: string },
  caller: Principal,
  address: string,
) => Promise<void>

interface Options {
  readonly accounts: Pick<Accounts, 'get' | 'setPassword'>
  readonly passwords: Passwords
  readonly lockout: Pick<Lockout, 'guard'>
  readonly rules: PasswordRules
}

export const createChangeOwnPassword =
  ({ accounts, passwords, lockout, rules }: Options): ChangeOwnPassword =>
  async ({ password, new_password: next }, { id, username }, address) => {
    const user = await accounts.get(id)
    const matches = await lockout.guard({ userId: id, identifier: username, address }, () =>
      passwords.verify(password, user?.password),
    )
    if (!user || !matches) {
      const message = 'The present password is not right.'
      throw new ServiceError('forbidden', message, {
        extra: { error: 'password_mismatch', error_description: message },
      })
    }
    rules.check(next, 'The new password')
    await accounts.setPassword(user, next)
  }
