import { ServiceError } from '#lib/errors.ts'
import type { StoredManifest } from './manifest-schema.ts'
import type { DescribeManifest, EditManifest } from './schemas.ts'

/** The lists of a manifest that can be edited name by name. */
const editableLists = ['required_claims', 'required_roles', 'tags'] as const
export type EditedList = (typeof editableLists)[number]

/** The lists that an endpoint edits: `/claims` edits all of them (spec 4.2). */
export const listsByEndpoint = {
  claims: editableLists,
  roles: ['required_roles'],
  tags: ['tags'],
} as const satisfies Readonly<Record<string, readonly EditedList[]>>

const addNames = (before: readonly string[], names: readonly string[]): string[] => {
  const all = [...before, ...names]
  return all.filter((name, at) => all.findIndex(other => other.toLowerCase() === name.toLowerCase()) === at)
}
const removeNames = (before: readonly string[], names: readonly string[]): string[] => {
  const removed = new Set(names.map(name => name.toLowerCase()))
  return before.filter(name => !removed.has(name.toLowerCase()))
}

/** Makes a change that adds the names of a request, or removes them. The change throws `invalid` without names for its lists. */
export const createListEdit =
  (action: 'add' | 'remove', endpoint: keyof typeof listsByEndpoint, request: EditManifest) =>
  (manifest: StoredManifest): StoredManifest => {
    const lists: readonly EditedList[] = listsByEndpoint[endpoint]
    if (lists.every(list => request[list].length === 0))
      throw new ServiceError(
        'invalid',
        `There is nothing to ${action}: send ${lists.join(', ')} with at least one name.`,
      )
    const change = action === 'add' ? addNames : removeNames
    return { ...manifest, ...Object.fromEntries(lists.map(list => [list, change(manifest[list], request[list])])) }
  }

/** Makes a change that replaces the fields of a request. It keeps fields that the request leaves out. */
export const createDescriptionEdit =
  (request: DescribeManifest) =>
  (manifest: StoredManifest): StoredManifest => ({
    ...manifest,
    ...(request.description !== undefined && { description: request.description }),
    ...Object.fromEntries(editableLists.flatMap(list => (request[list] ? [[list, addNames([], request[list])]] : []))),
  })
