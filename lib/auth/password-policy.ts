import { randomInt } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import { keysOf } from '#lib/keys-of.ts'

/** The most bytes that bcrypt reads. A longer password is refused, never truncated. */
export const maxPasswordBytes = 72

/** The requirements of a password (spec 5.8). */
export interface PasswordPolicy {
  /** In characters. */
  readonly minLength: number
  /** In bytes. */
  readonly maxBytes: number
  readonly requiredKinds: readonly CharacterKind[]
}

const characterKinds = {
  lower: ['a lower-case letter', /\p{Ll}/u],
  upper: ['an upper-case letter', /\p{Lu}/u],
  digit: ['a digit', /\p{Nd}/u],
  special: ['a special character', /[^\p{L}\p{N}\s]/u],
} as const
export type CharacterKind = keyof typeof characterKinds

export const characterKindNames = keysOf(characterKinds)

/** Checks and generates passwords by a policy. */
export interface PasswordRules {
  /** Passes a password that satisfies every rule. Throws `invalid` with each broken rule; `subject` begins the message. */
  check(password: string, subject: string): void
  /** Generates a password of more than 120 bits that satisfies the rules, without characters that look alike. */
  generate(): string
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

export const createPasswordRules = ({ minLength, maxBytes, requiredKinds }: PasswordPolicy): PasswordRules => {
  const rules: readonly (readonly [string, (password: string) => boolean])[] = [
    [`at least ${minLength} characters`, password => [...password].length >= minLength],
    [`at most ${maxBytes} bytes`, password => Buffer.byteLength(password) <= maxBytes],
    // bcrypt repeats the password, with a NUL after each copy: "a" and "a\0a" would have the same hash.
    ['whole characters other than NUL', password => password.isWellFormed() && !password.includes('\0')],
    ...requiredKinds.map(kind => {
      const [rule, pattern] = characterKinds[kind]
      return [rule, (password: string) => pattern.test(password)] as const
    }),
  ]
  const findBrokenRules = (password: string): readonly string[] =>
    rules.filter(([, isMet]) => !isMet(password)).map(([rule]) => rule)
  // Groups of six letters and a dash. Four groups resist any attacker; there are more only when the policy requires it.
  const length = Math.max(27, minLength)
  const groups = Math.ceil((length + 1) / 7)

  return {
    check(password, subject) {
      const broken = findBrokenRules(password)
      if (broken.length === 0) return
      const message = `${subject} is too weak: it needs ${broken.join(', ')}.`
      throw new ServiceError('invalid', message, {
        stack: broken.map(rule => ({ error: `it needs ${rule}`, path: 'password' })),
        extra: { error: 'password_validation', error_description: message },
      })
    },
    generate() {
      for (;;) {
        const generateLetters = (): string =>
          Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')
        const password = Array.from({ length: groups }, generateLetters).join('-').slice(0, length)
        if (findBrokenRules(password).length === 0) return password
      }
    },
  }
}
