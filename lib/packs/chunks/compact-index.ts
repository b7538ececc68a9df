import type { Chunk, Chunked, IndexedFile } from './chunk-index.ts'

/**
 * A file of a chunk index in little memory: 40 bytes for each part, where the text has a hundred and objects have more. It goes
 * from thread to thread without being copied.
 */
export interface CompactFile extends Omit<IndexedFile, 'chunks'> {
  /** 32 bytes for each part; of a run of zeros they say nothing. */
  readonly digests: Uint8Array<ArrayBuffer>
  /** Bytes of each part; of a run of zeros below 0. */
  readonly sizes: Float64Array<ArrayBuffer>
}

const digestLength = 32

export const compactFile = ({ chunks, ...file }: IndexedFile): CompactFile => {
  const parts = [...chunks]
  const digests = Buffer.from(new ArrayBuffer(parts.length * digestLength))
  const sizes = new Float64Array(parts.length)
  for (const [at, part] of parts.entries())
    if ('zeros' in part) sizes[at] = -part.zeros
    else {
      digests.write(part.sha256, at * digestLength, 'hex')
      sizes[at] = part.size
    }
  return { ...file, digests, sizes }
}

/** The file again, each part made when it is asked for. */
export const expandedFile = ({ digests, sizes, ...file }: CompactFile): IndexedFile => {
  const bytes = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength)
  const part = (at: number): Chunk | { readonly zeros: number } => {
    const size = sizes[at]!
    if (size < 0) return { zeros: -size }
    return { sha256: bytes.toString('hex', at * digestLength, (at + 1) * digestLength), size }
  }
  const chunks = {
    *[Symbol.iterator]() {
      for (let at = 0; at < sizes.length; at += 1) yield part(at)
    },
  }
  return { ...file, chunks }
}

/** The digests of all chunks of an index, each once and sorted, 32 bytes each. */
export const digestsIn = (files: readonly Chunked[]): Uint8Array<ArrayBuffer> => {
  const names = new Set(
    files.flatMap(({ chunks }) => [...chunks].flatMap(one => ('sha256' in one ? [one.sha256] : []))),
  )
  const digests = Buffer.from(new ArrayBuffer(names.size * digestLength))
  for (const [at, name] of [...names].sort().entries()) digests.write(name, at * digestLength, 'hex')
  return digests
}

/** Whether a SHA-256 (lower-case hex) is one of those that `digestsIn` gave. */
export const hasDigest = (digests: Uint8Array, sha256: string): boolean => {
  const all = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength)
  const wanted = Buffer.from(sha256, 'hex')
  let [from, to] = [0, all.length / digestLength]
  while (from < to) {
    const middle = (from + to) >> 1
    const order = wanted.compare(all, middle * digestLength, (middle + 1) * digestLength)
    if (order === 0) return true
    if (order < 0) to = middle
    else from = middle + 1
  }
  return false
}
