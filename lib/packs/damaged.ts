import { ServiceError } from '#lib/errors.ts'

/** A pack that is not taken, and why. */
export const broken = (why: string): ServiceError => new ServiceError('invalid', `The pack cannot be unpacked: ${why}.`)

/** A name of a pack for a message: not too long, and nothing in it that a terminal or a log would act upon. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name).replaceAll(
    /\p{C}/gu,
    character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
