import { findClosestName } from '#lib/access/closest-name.ts'
import { ServiceError } from '#lib/errors.ts'

/**
 * Returns a function that keeps the wanted members of an item, or all members without `fields`. `members` are the names that an
 * item can have. Throws `invalid` for another name.
 */
export const createFieldPicker = (
  fields: string | undefined,
  members: ReadonlySet<string>,
): ((item: object) => object) => {
  if (fields === undefined) return item => item
  const wanted = new Set(fields.split(',').map(name => name.trim()))
  const unknown = [...wanted].find(name => !members.has(name))
  if (unknown !== undefined) {
    const closest = findClosestName(unknown, [...members])
    const hint = closest === undefined ? '' : `; did you mean ${closest}?`
    throw new ServiceError('invalid', `fields: there is no member ${JSON.stringify(unknown.slice(0, 80))}${hint}.`)
  }
  return item => Object.fromEntries(Object.entries(item).filter(([name]) => wanted.has(name)))
}
