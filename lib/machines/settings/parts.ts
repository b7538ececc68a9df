import { ServiceError } from '#lib/errors.ts'

/** Throws `not-found`: the machine has no such part. */
export const refuseUnknownPart = (name: string, others: readonly string[]): never => {
  const all = others.length === 0 ? 'it has none' : `it has ${others.join(', ')}`
  throw new ServiceError('invalid', `The machine has no ${name}; ${all}.`)
}

/** Returns a part of a list by its name. Throws `invalid` if there is none. */
export const findPart = <Part extends { readonly name?: string | undefined }>(
  parts: readonly Part[],
  name: string,
): Part =>
  parts.find(part => part.name === name) ??
  refuseUnknownPart(
    name,
    parts.flatMap(part => part.name ?? []),
  )

/** Returns a list with another part in the place of that with its name. */
export const replacePart = <Part extends { readonly name?: string | undefined }>(
  parts: readonly Part[],
  changed: Part,
): Part[] => parts.map(part => (part.name === changed.name ? changed : part))

/** Returns a list without the part of this name. */
export const withoutPart = <Part extends { readonly name?: string | undefined }>(
  parts: readonly Part[],
  name: string,
): Part[] => parts.filter(part => part.name !== name)

/** Throws `invalid` if a machine would have more parts than it can. */
export const assertCount = (what: string, { length }: readonly unknown[], max: number): void => {
  if (length >= max) throw new ServiceError('invalid', `A machine has at most ${max} ${what}.`)
}
