import { randomInt } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'

const shortest = 12
/** bcrypt reads no further; a longer password is refused, never cut. */
const longest = 72

const rules: readonly (readonly [string, (password: string) => boolean])[] = [
  [`at least ${shortest} characters`, password => [...password].length >= shortest],
  [`at most ${longest} bytes`, password => Buffer.byteLength(password) <= longest],
  ['a lower-case letter', password => /\p{Ll}/u.test(password)],
  ['an upper-case letter', password => /\p{Lu}/u.test(password)],
  ['a digit', password => /\p{Nd}/u.test(password)],
  ['a special character', password => /[^\p{L}\p{N}\s]/u.test(password)],
]

/** Passes a password that satisfies every rule. Throws `invalid`, naming each broken one. */
export const checkPassword = (password: string, whose: string): void => {
  const broken = rules.filter(([, holds]) => !holds(password)).map(([rule]) => rule)
  if (broken.length === 0) return
  const message = `${whose} is too weak: it needs ${broken.join(', ')}.`
  throw new ServiceError('invalid', message, { extra: { error: 'password_validation', error_description: message } })
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

/** A random password that satisfies the rules; without letters and digits that look alike. More than 120 bits. */
export const randomPassword = (): string => {
  const group = (): string => Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')
  const password = [group(), group(), group(), group()].join('-')
  return rules.every(([, holds]) => holds(password)) ? password : randomPassword()
}
