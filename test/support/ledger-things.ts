import type { Answer } from './harness.ts'

/** Sends a request below `/api/v1`. */
export type Send = (method: string, path: string, body?: object) => Promise<Answer>

/** A kind of thing that a service keeps: how one is made, changed and removed, and what it is seen to be then. */
interface Kind {
  readonly made: string
  make(send: Send, name: string): Promise<Answer>
  readonly changed?: string
  change?(send: Send, name: string): Promise<Answer>
  remove(send: Send, name: string): Promise<Answer>
}

const changed = 'changed'
const made = 'made'

/** Kinds by name; the name of each thing begins with that of its kind and a hyphen. */
export const kindsOf = (kernel: string): Readonly<Record<string, Kind>> => ({
  machine: {
    made: '',
    make: (send, name) => send('POST', '/machines', { name, memory: 16, kernel }),
    changed,
    change: (send, name) =>
      send('PUT', `/machines/${name}/set`, {
        operations: [{ group: 'description', operation: 'set', value: changed }],
      }),
    remove: (send, name) => send('DELETE', `/machines/${name}`),
  },
  clone: {
    made,
    make: (send, name) => send('PUT', '/machines/demo/clone', { clone_name: name }),
    remove: (send, name) => send('DELETE', `/machines/${name}`),
  },
  user: {
    made,
    make: (send, name) =>
      send('POST', '/auth/users', {
        username: name,
        name: made,
        email: `${name}@example.test`,
        password: 'A-password-0f-its-own',
      }),
    changed,
    change: (send, name) => send('PUT', `/auth/users/${name}`, { name: changed }),
    remove: (send, name) => send('DELETE', `/auth/users/${name}`),
  },
  key: {
    made,
    make: (send, name) => send('POST', '/auth/api_keys', { name }),
    changed,
    change: (send, name) => send('PUT', `/auth/api_keys/${name}/revoke`),
    remove: (send, name) => send('DELETE', `/auth/api_keys/${name}`),
  },
  config: {
    made,
    make: (send, name) => send('POST', '/user/configs', { slug: name, name, type: 'string', value: made }),
    changed,
    change: (send, name) => send('PUT', `/user/configs/${name}`, { value: changed }),
    remove: (send, name) => send('DELETE', `/user/configs/${name}`),
  },
  pack: {
    made,
    make: (send, name) =>
      send('POST', '/catalog/push', {
        catalog_id: name,
        version: '1',
        uuid: 'demo',
        connection: 'provider=local-storage',
      }),
    changed,
    change: (send, name) => send('PATCH', `/catalog/${name}/1/x86_64/tags`, { tags: [changed] }),
    remove: (send, name) => send('DELETE', `/catalog/${name}/1`),
  },
})

/** Everything of these kinds that there is, by name, as it is. */
export const findThings = async (send: Send): Promise<ReadonlyMap<string, string>> => {
  const list = async (path: string) => (await send('GET', path)).body
  const [machines, users, keys, configs, packs] = await Promise.all(
    ['/machines', '/auth/users', '/auth/api_keys', '/user/configs', '/catalog'].map(list),
  )
  const found = new Map<string, string>()
  for (const { Name, Description } of machines) found.set(Name, Name.startsWith('clone-') ? made : Description)
  for (const { username, name } of users) found.set(username, name)
  for (const { name, revoked } of keys) found.set(name, revoked ? changed : made)
  for (const { slug, value } of configs) found.set(slug, value)
  // A catalog without any manifest is not found.
  for (const { catalog_id: id, tags } of Array.isArray(packs) ? packs : [])
    found.set(id, tags.includes(changed) ? changed : made)
  // They are there without anybody having made them.
  found.delete('demo')
  found.delete('root')
  return found
}
