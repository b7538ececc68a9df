import { ServiceError } from '#lib/errors.ts'

/** The error for a pack that the service does not unpack. `why` completes the sentence. */
export const createInvalidPackError = (why: string): ServiceError =>
  new ServiceError('invalid', `The pack cannot be unpacked: ${why}.`)

/** Quotes a name of a pack for a message: shortened, and without characters that a terminal or a log would interpret. */
export const quoteName = (name: string): string =>
  JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name).replaceAll(
    /\p{C}/gu,
    character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
