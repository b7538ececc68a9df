import type { Storage } from 'unstorage'
import { toKey } from './keys.ts'
import type { Texts } from './store.ts'

/** Makes the texts of one name. Each read goes to the driver. */
export const createTexts = (name: string, storage: Storage): Texts => ({
  async read(id) {
    const value = await storage.getItem<string | { readonly text: string }>(toKey(name, id))
    if (value === null) return undefined
    // What `put` writes. unstorage parses it already, or not, as the driver gives it.
    const { text } = typeof value === 'string' ? (JSON.parse(value) as { readonly text: string }) : value
    return text
  },
  put: (id, text) => ({ texts: name, id, text }),
  remove: id => ({ texts: name, id, text: undefined }),
})
