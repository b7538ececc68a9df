import { ServiceError } from '#lib/errors.ts'

/** The refusal of a pack that the service does not unpack. `why` completes the sentence. */
export class InvalidPackError extends ServiceError {
  /** What is wrong with the pack, for readers that put it into a sentence of their own. */
  readonly why: string

  constructor(why: string) {
    super('invalid', `The pack cannot be unpacked: ${why}.`)
    this.why = why
  }
}

/** Quotes a name of a pack for a message: shortened, and without characters that a terminal or a log would interpret. */
export const quoteName = (name: string): string =>
  JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name).replaceAll(
    /\p{C}/gu,
    character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
