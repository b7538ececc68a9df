import { findNameProblem } from '#lib/packs/file-names.ts'
import { InvalidPackError, quoteName } from '#lib/packs/pack-errors.ts'
import type { ByteReader } from '#lib/packs/tar/byte-reader.ts'
import { readEntries } from '#lib/packs/tar/read-entries.ts'
import { type ImageFile, sliceImageFile } from '../image-file.ts'
import type { Refuse } from '../refusal.ts'

/** A file in the archive, read in place: nothing is extracted. */
export interface Member extends ImageFile {
  /** Its position in the archive. */
  readonly offset: number
}

const maxMembers = 256
const partSize = 2 ** 20

/** Creates a reader of a file for the decoder of tar, which can skip content and knows where it is. */
const createSeekingReader = (file: ImageFile) => {
  let position = 0
  const read = async (size: number): Promise<Buffer> => {
    const bytes = await file.read(position, size)
    position += bytes.length
    return bytes
  }
  const stream: ByteReader['stream'] = async function* (size) {
    for (let left = size; left > 0;) {
      const part = await read(Math.min(left, partSize))
      if (part.length === 0) return
      left -= part.length
      yield part
    }
  }
  const skip = (size: number): void => void (position += size)
  return { read, stream, skip, position: () => position }
}

/**
 * Lists the files of an archive by name, in their order. Names are plain: no folders, no links. Throws by `refuse` for an archive
 * that is damaged or contains something else.
 */
export const listMembers = async (file: ImageFile, refuse: Refuse): Promise<ReadonlyMap<string, Member>> => {
  const reader = createSeekingReader(file)
  const members = new Map<string, Member>()
  try {
    for await (const { kind, name, size } of readEntries(reader, { mayLackEnd: true })) {
      const problem = kind === 'folder' || name.includes('/') ? 'it is in a folder' : findNameProblem(name)
      if (problem !== undefined) refuse(`it contains ${quoteName(name)}: ${problem}`)
      if (members.has(name)) refuse(`it contains ${quoteName(name)} twice`)
      if (members.size === maxMembers) refuse(`it contains more than ${maxMembers} files`)
      const offset = reader.position()
      if (offset + size > file.size) refuse(`it ends within ${quoteName(name)}, so it was cut off`)
      members.set(name, { ...sliceImageFile(file, offset, size), offset })
      reader.skip(size)
    }
  } catch (error) {
    if (error instanceof InvalidPackError) refuse(error.why)
    throw error
  }
  return members
}
