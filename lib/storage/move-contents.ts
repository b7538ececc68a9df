import type { DocumentRow } from './rows.ts'

const [manifests, contents] = ['catalog-manifests:', 'catalog-contents:']

/** Moves the file lists of manifests to texts. As members of the manifests they were all held in memory. */
export const moveContents = (rows: ReadonlyMap<string, string>): readonly DocumentRow[] =>
  [...rows].flatMap(([key, text]): DocumentRow[] => {
    if (!key.startsWith(manifests)) return []
    // What the versions before this one stored.
    const {
      pack_contents = [],
      virtual_machine_contents = [],
      ...manifest
    } = JSON.parse(text) as {
      readonly id: string
      readonly pack_contents?: readonly unknown[]
      readonly virtual_machine_contents?: readonly unknown[]
    }
    const has_contents = pack_contents.length + virtual_machine_contents.length > 0
    const row = { key, value: JSON.stringify({ ...manifest, has_contents }) }
    if (!has_contents) return [row]
    const contentsDocument = {
      id: manifest.id,
      rev: 1,
      text: JSON.stringify({ pack_contents, virtual_machine_contents }),
    }
    return [row, { key: contents + manifest.id, value: JSON.stringify(contentsDocument) }]
  })
