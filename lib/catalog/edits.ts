import { ServiceError } from '#lib/errors.ts'
import type { StoredManifest } from './manifest-schema.ts'
import type { DescribeManifest, EditManifest } from './schemas.ts'

/** The lists of a manifest that are edited name by name. */
const lists = ['required_claims', 'required_roles', 'tags'] as const
export type EditedList = (typeof lists)[number]

/** Which lists an endpoint acts on: `/claims` on all of them (spec 4.2). */
export const listsOf = { claims: lists, roles: ['required_roles'], tags: ['tags'] } as const satisfies Readonly<
  Record<string, readonly EditedList[]>
>

const key = (name: string): string => name.toLowerCase()

const added = (before: readonly string[], names: readonly string[]): string[] => {
  const all = [...before, ...names]
  return all.filter((name, at) => all.findIndex(other => key(other) === key(name)) === at)
}
const removed = (before: readonly string[], names: readonly string[]): string[] => {
  const gone = new Set(names.map(key))
  return before.filter(name => !gone.has(key(name)))
}

/** Adds or removes the names of a request. Throws `invalid` when it has none for these lists. */
export const editLists =
  (how: 'add' | 'remove', which: keyof typeof listsOf, request: EditManifest) =>
  (manifest: StoredManifest): StoredManifest => {
    const acted: readonly EditedList[] = listsOf[which]
    if (acted.every(list => request[list].length === 0))
      throw new ServiceError('invalid', `There is nothing to ${how}: send ${acted.join(', ')} with at least one name.`)
    const change = how === 'add' ? added : removed
    return { ...manifest, ...Object.fromEntries(acted.map(list => [list, change(manifest[list], request[list])])) }
  }

/** Replaces what a request gives; what it leaves out stays. */
export const describe =
  (request: DescribeManifest) =>
  (manifest: StoredManifest): StoredManifest => ({
    ...manifest,
    ...(request.description !== undefined && { description: request.description }),
    ...Object.fromEntries(lists.flatMap(list => (request[list] ? [[list, added([], request[list])]] : []))),
  })
