import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import type { LeasedImage } from '../images/leased-image.ts'
import type { SetMachine } from '../schemas.ts'

/** The registered images that a request names, by what they are named by. */
export type NamedImages = ReadonlyMap<string, LeasedImage['image']>

/** An operation of a `set` request. */
export type SetOperation = SetMachine['operations'][number]

/** A change of a definition. */
export interface Change {
  /** What changes: a member of the definition, or the name of a part. */
  readonly field: string
  readonly apply: (definition: Definition) => Definition
  /** Returns the value of the field, for people. */
  readonly read: (definition: Definition) => string | number
}

/**
 * Reads an operation as a change of the present definition. `images` are the registered images that the request names. Throws
 * `invalid`, `unsupported` and `not-found`.
 */
export type Setting = (operation: SetOperation, current: Definition, images: NamedImages) => Change

/** The operations of a group, or of a kind of device. */
export type Settings = Readonly<Record<string, Setting>>

/** Parses the value of an operation, or one of its options. Throws `invalid`, with `what` in the message. */
export const parseValue = <T>(what: string, schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new ServiceError('invalid', `The value of ${what} ${describeFirstMistake(parsed.error)}.`)
  return parsed.data
}

/** A setting that sets one member of the definition. `read` returns its present value for people. */
export const setMember =
  <K extends keyof Definition>(field: K, schema: z.ZodType<Definition[K]>, read: Change['read']): Setting =>
  ({ group, operation, value }) => {
    const parsed = parseValue(`${group} ${operation}`, schema, value)
    return { field, apply: definition => ({ ...definition, [field]: parsed }), read }
  }

/** A number as text. `schema` has its bounds; without it, its upper limit depends on the host (`assertWithinHost`). */
export const createNumberSchema = (
  description: string,
  schema: z.ZodType<number, number> = z.int().min(1, `must be ${description}, at least 1`),
): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^[0-9]{1,10}$/, `must be ${description} as a whole number`)
    .transform(Number)
    .pipe(schema)

/** On or off, in the words that clients of other services use too. */
export const Switch = z
  .enum(['on', 'off', 'true', 'false'], 'must be on or off')
  .transform(text => text === 'on' || text === 'true')

export const formatSwitch = (isOn: boolean | undefined): string => (isOn ? 'on' : 'off')

/**
 * Reads the options of an operation by their flags. Options that do not stand in `shape` and flags are refused by name, since
 * they would have no effect. Throws `invalid`.
 */
export const readOptions = <S extends z.core.$ZodLooseShape>(
  { group, operation, options, flags }: SetOperation,
  shape: S,
  knownFlags: readonly string[] = [],
): z.infer<z.ZodObject<S>> & { readonly flags: ReadonlySet<string> } => {
  const what = `${group} ${operation}`
  const known = Object.keys(shape)
  const names = [...options.map(({ flag }) => flag), ...flags].map(flag => flag.replace(/^--/, ''))
  const other = names.find(name => !known.includes(name) && !knownFlags.includes(name))
  if (other !== undefined) {
    const all = [...known, ...knownFlags]
    const advice = all.length === 0 ? 'it takes none' : `it takes ${joinWords(all, 'and')}`
    throw new ServiceError('unsupported', `${other}: unsupported by ${what}; ${advice}.`)
  }
  const values = Object.fromEntries(options.map(({ flag, value }) => [flag.replace(/^--/, ''), value]))
  // The type of the parsed object is that of its shape, which TypeScript does not derive for a type parameter.
  const parsed = parseValue(what, z.object(shape), values) as z.infer<z.ZodObject<S>>
  return { ...parsed, flags: new Set(flags.map(flag => flag.replace(/^--/, ''))) }
}

/** Adds to settings that they take a value alone: they refuse options and flags by name. */
export const takeValuesAlone = (settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([name, setting]): [string, Setting] => [
      name,
      (operation, current, images) => {
        readOptions(operation, {})
        return setting(operation, current, images)
      },
    ]),
  )
