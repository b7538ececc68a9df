import { createHash } from 'node:crypto'
import { quoteName } from '#lib/packs/pack-errors.ts'
import type { ImageFile } from '../image-file.ts'
import type { Refuse } from '../refusal.ts'
import type { Member } from './archive.ts'

const linePattern = /^(SHA1|SHA256|SHA512)\s?\((.{1,255})\)\s?= ?([\da-f]{40,128})$/i
const partSize = 2 ** 20

const computeDigest = async (algorithm: string, file: ImageFile, signal: AbortSignal | undefined): Promise<string> => {
  const hash = createHash(algorithm)
  for (let at = 0; at < file.size; at += partSize) {
    signal?.throwIfAborted()
    hash.update(await file.read(at, partSize))
  }
  return hash.digest('hex')
}

/**
 * Compares the files of an archive with the digests of its manifest (DSP0243, 5.1), which must list all of `required`. Throws by
 * `refuse` for a file that is missing or different, and the reason of the signal.
 */
export const checkManifest = async (
  text: string,
  { members, required }: { readonly members: ReadonlyMap<string, Member>; readonly required: readonly string[] },
  refuse: Refuse,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const listed = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [, algorithm = '', name = '', digest = ''] = linePattern.exec(line) ?? refuse('its manifest cannot be read')
    if (listed.has(name)) refuse(`its manifest lists ${quoteName(name)} twice`)
    listed.add(name)
    const member = members.get(name) ?? refuse(`its manifest lists ${quoteName(name)}, which it lacks`)
    if ((await computeDigest(algorithm.toLowerCase(), member, signal)) !== digest.toLowerCase())
      refuse(`${quoteName(name)} is not the file that its manifest lists`)
  }
  for (const name of required) if (!listed.has(name)) refuse(`its manifest does not list ${quoteName(name)}`)
}
