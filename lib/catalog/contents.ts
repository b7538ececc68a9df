import * as z from 'zod'
import type { Texts, Write } from '#lib/storage/store.ts'
import { ContentItem } from './manifest-schema.ts'

/** The files that a manifest names: of its pack, and of its machine. There may be very many, so they stay on disk. */
export const ManifestContents = z.object({
  pack_contents: z.array(ContentItem),
  virtual_machine_contents: z.array(ContentItem),
})
export type ManifestContents = z.infer<typeof ManifestContents>

export const noContents: ManifestContents = { pack_contents: [], virtual_machine_contents: [] }

/** A manifest, as far as that says whether it has contents. */
interface Owner {
  readonly id: string
  readonly has_contents?: boolean | undefined
}

/** The contents of the manifests on record. */
export interface Contents {
  of(manifest: Owner): Promise<ManifestContents>
  /** The same as the members of a JSON object. */
  membersOf(manifest: Owner): Promise<string>
  /** Whether there is anything to keep. */
  isEmpty(contents: ManifestContents): boolean
  /** What keeps the contents of a manifest, or that there are none any more. */
  put(id: string, contents: ManifestContents): Write
  remove(id: string): Write
}

const membersIn = (text: string): string => text.slice(1, -1)
const none = membersIn(JSON.stringify(noContents))

export const createContents = (texts: Texts): Contents => {
  const isEmpty = ({ pack_contents, virtual_machine_contents }: ManifestContents): boolean =>
    pack_contents.length + virtual_machine_contents.length === 0
  // One that is deleted meanwhile has none any more.
  const read = async ({ id, has_contents }: Owner): Promise<string | undefined> =>
    has_contents ? texts.read(id) : undefined
  return {
    isEmpty,
    async of(manifest) {
      const text = await read(manifest)
      return text === undefined ? noContents : ManifestContents.parse(JSON.parse(text))
    },
    async membersOf(manifest) {
      const text = await read(manifest)
      return text === undefined ? none : membersIn(text)
    },
    put: (id, contents) =>
      isEmpty(contents) ? texts.remove(id) : texts.put(id, JSON.stringify(ManifestContents.parse(contents))),
    remove: texts.remove,
  }
}
