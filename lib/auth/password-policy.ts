import { randomInt } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'

/** bcrypt reads no further; a longer password is refused, never cut. */
export const longestPassword = 72

/** What a password must have (spec 5.8). */
export interface PasswordPolicy {
  /** Characters. */
  readonly shortest: number
  /** Bytes. */
  readonly longest: number
  readonly kinds: readonly CharacterKind[]
}

const characterKinds = {
  lower: ['a lower-case letter', /\p{Ll}/u],
  upper: ['an upper-case letter', /\p{Lu}/u],
  digit: ['a digit', /\p{Nd}/u],
  special: ['a special character', /[^\p{L}\p{N}\s]/u],
} as const
export type CharacterKind = keyof typeof characterKinds

export const characterKindNames = Object.keys(characterKinds) as readonly CharacterKind[]

/** A policy at work. */
export interface PasswordRules {
  /** Passes a password that satisfies every rule. Throws `invalid`, naming each broken one. */
  check(password: string, whose: string): void
  /** A random password that satisfies the rules; without characters that look alike. More than 120 bits. */
  random(): string
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

export const createPasswordRules = ({ shortest, longest, kinds }: PasswordPolicy): PasswordRules => {
  const rules: readonly (readonly [string, (password: string) => boolean])[] = [
    [`at least ${shortest} characters`, password => [...password].length >= shortest],
    [`at most ${longest} bytes`, password => Buffer.byteLength(password) <= longest],
    // bcrypt repeats what it is given with a NUL after each time: a short password looks like itself twice, and is.
    ['whole characters other than NUL', password => password.isWellFormed() && !password.includes('\0')],
    ...kinds.map(kind => {
      const [rule, pattern] = characterKinds[kind]
      return [rule, (password: string) => pattern.test(password)] as const
    }),
  ]
  const brokenBy = (password: string): readonly string[] =>
    rules.filter(([, holds]) => !holds(password)).map(([rule]) => rule)
  // Groups of six and a dash; four of them are enough for any attacker, more only where the policy asks for length.
  const length = Math.max(27, shortest)
  const groups = Math.ceil((length + 1) / 7)

  return {
    check(password, whose) {
      const broken = brokenBy(password)
      if (broken.length === 0) return
      const message = `${whose} is too weak: it needs ${broken.join(', ')}.`
      throw new ServiceError('invalid', message, {
        stack: broken.map(rule => ({ error: `it needs ${rule}`, path: 'password' })),
        extra: { error: 'password_validation', error_description: message },
      })
    },
    random() {
      for (;;) {
        const letters = (): string => Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')
        const password = Array.from({ length: groups }, letters).join('-').slice(0, length)
        if (brokenBy(password).length === 0) return password
      }
    },
  }
}
