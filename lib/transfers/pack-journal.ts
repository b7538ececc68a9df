import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { PackDigest } from '#lib/packs/digest.ts'
import { maxJournalSize, readBounded } from '#lib/platform/bounded-file.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'

const journalName = 'pack.json'
/** The journal of a finished pack, in the folder of the push. Its member names stay, because an earlier version of the service may have written it. */
const PackJournal = z.object({
  of: z.string(),
  digest: z.object({
    size: z.number(),
    sha256: z.string(),
    md5: z.string(),
    pieceSize: z.number(),
    pieces: z.array(z.string()),
  }),
})

/** A finished pack or chunk index on this host. */
export interface LocalPack {
  readonly file: string
  readonly digest: PackDigest
}

interface EarlierPack extends LocalPack {
  /** What the pack contains: equal texts mean equal packs. */
  readonly input: string
}

/** Returns the pack that an earlier try of the push has finished in the folder, if there is one. */
export const readEarlierPack = async (folder: string): Promise<EarlierPack | undefined> => {
  try {
    const text = await readBounded(join(folder, journalName), maxJournalSize)
    const journal = PackJournal.parse(JSON.parse(text.toString('utf8')))
    const { pieceSize, pieces, ...digest } = journal.digest
    const file = join(folder, 'pack')
    if ((await stat(file)).size !== digest.size) return undefined
    return { input: journal.of, file, digest: { ...digest, rangeSize: pieceSize, rangeDigests: pieces } }
  } catch {
    return undefined
  }
}

/** Records the finished pack in the folder and its input, for a later try of the push. */
export const writePackJournal = (folder: string, input: string, { digest }: LocalPack): Promise<void> => {
  const { rangeSize: pieceSize, rangeDigests: pieces, ...others } = digest
  const journal = { of: input, digest: { ...others, pieceSize, pieces: [...pieces] } } satisfies z.infer<
    typeof PackJournal
  >
  return writeFileAtomic(join(folder, journalName), JSON.stringify(journal))
}
