import * as z from 'zod'
import type { Texts, Write } from '#lib/storage/store.ts'
import { ContentItem } from './manifest-schema.ts'

/** The files that a manifest lists: those of its pack and of its machine. There may be very many, so they stay on disk. */
export const ManifestContents = z.object({
  pack_contents: z.array(ContentItem),
  virtual_machine_contents: z.array(ContentItem),
})
export type ManifestContents = z.infer<typeof ManifestContents>

export const emptyContents: ManifestContents = { pack_contents: [], virtual_machine_contents: [] }

/** The fields of a manifest that say whether it has stored contents. */
interface ContentOwner {
  readonly id: string
  readonly has_contents?: boolean | undefined
}

/** Stores the contents of manifests. */
export interface ContentStore {
  /** Reads the contents. They are empty for a manifest that was deleted meanwhile. */
  read(manifest: ContentOwner): Promise<ManifestContents>
  /** Reads the contents as the members of a JSON object, without parsing them. */
  readJsonMembers(manifest: ContentOwner): Promise<string>
  isEmpty(contents: ManifestContents): boolean
  /** Gives the write that stores the contents of a manifest. Empty contents are removed. */
  put(id: string, contents: ManifestContents): Write
  remove(id: string): Write
}

const stripBraces = (json: string): string => json.slice(1, -1)
const emptyMembers = stripBraces(JSON.stringify(emptyContents))

export const createContentStore = (texts: Texts): ContentStore => {
  const isEmpty = ({ pack_contents, virtual_machine_contents }: ManifestContents): boolean =>
    pack_contents.length + virtual_machine_contents.length === 0
  const readText = async ({ id, has_contents }: ContentOwner): Promise<string | undefined> =>
    has_contents ? texts.read(id) : undefined
  return {
    isEmpty,
    async read(manifest) {
      const text = await readText(manifest)
      return text === undefined ? emptyContents : ManifestContents.parse(JSON.parse(text))
    },
    async readJsonMembers(manifest) {
      const text = await readText(manifest)
      return text === undefined ? emptyMembers : stripBraces(text)
    },
    put: (id, contents) =>
      isEmpty(contents) ? texts.remove(id) : texts.put(id, JSON.stringify(ManifestContents.parse(contents))),
    remove: texts.remove,
  }
}
