import * as z from 'zod'
import { joinWords } from '#lib/join-words.ts'

/** The most names that a message lists. */
const maxNames = 20

/** Joins names of members for a sentence. A long list is cut. */
export const formatNames = (names: readonly string[]): string => joinWords(names.slice(0, maxNames), 'and')

/**
 * The schema of an object that refuses unknown members by name, instead of dropping silently what a caller asked for. The
 * message calls the object `what` and lists the members of `shape`. The members of `ignored` are accepted and have no effect.
 */
export const knownObject = <S extends z.core.$ZodLooseShape, I extends z.core.$ZodLooseShape = object>(
  what: string,
  shape: S,
  ignored?: I,
): z.ZodObject<S & I, z.core.$strict> =>
  z.strictObject({ ...shape, ...ignored } as S & I, {
    error: issue =>
      issue.code === 'unrecognized_keys'
        ? `${formatNames(issue.keys)}: not known here; ${what} has ${joinWords(Object.keys(shape), 'and')}`
        : undefined,
  })
