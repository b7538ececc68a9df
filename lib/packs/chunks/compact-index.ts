import type { ChunkedContent, IndexedFile, IndexEntry } from './chunk-index.ts'

/**
 * An indexed file that takes 40 bytes of memory for each entry, where the text takes a hundred and objects take more. One
 * thread can give it to another without copying it.
 */
export interface CompactFile extends Omit<IndexedFile, 'chunks'> {
  /** 32 bytes for each entry, without meaning for a run of zeros. */
  readonly digests: Uint8Array<ArrayBuffer>
  /** The size of each chunk, or the negative length of a run of zeros. */
  readonly sizes: Float64Array<ArrayBuffer>
}

const digestLength = 32

export const toCompactFile = ({ chunks, ...file }: IndexedFile): CompactFile => {
  const entries = [...chunks]
  const digests = Buffer.from(new ArrayBuffer(entries.length * digestLength))
  const sizes = new Float64Array(entries.length)
  for (const [at, entry] of entries.entries())
    if ('zeros' in entry) sizes[at] = -entry.zeros
    else {
      digests.write(entry.sha256, at * digestLength, 'hex')
      sizes[at] = entry.size
    }
  return { ...file, digests, sizes }
}

/** Returns the indexed file of a compact one. It makes each entry when somebody reads it. */
export const expandFile = ({ digests, sizes, ...file }: CompactFile): IndexedFile => {
  const bytes = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength)
  const readEntry = (at: number): IndexEntry => {
    const size = sizes[at] ?? 0
    if (size < 0) return { zeros: -size }
    return { sha256: bytes.toString('hex', at * digestLength, (at + 1) * digestLength), size }
  }
  const chunks = {
    *[Symbol.iterator]() {
      for (let at = 0; at < sizes.length; at += 1) yield readEntry(at)
    },
  }
  return { ...file, chunks }
}

/** Collects the digests of all chunks of an index, sorted and each once, 32 bytes each. */
export const collectDigests = (files: readonly ChunkedContent[]): Uint8Array<ArrayBuffer> => {
  const names = new Set(
    files.flatMap(({ chunks }) => [...chunks].flatMap(entry => ('sha256' in entry ? [entry.sha256] : []))),
  )
  const digests = Buffer.from(new ArrayBuffer(names.size * digestLength))
  for (const [at, name] of [...names].sort().entries()) digests.write(name, at * digestLength, 'hex')
  return digests
}

/** Says whether a SHA-256 (lower-case hex) is one of the digests that `collectDigests` has returned. */
export const hasDigest = (digests: Uint8Array, sha256: string): boolean => {
  const sorted = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength)
  const wanted = Buffer.from(sha256, 'hex')
  let [from, to] = [0, sorted.length / digestLength]
  while (from < to) {
    const middle = (from + to) >> 1
    const order = wanted.compare(sorted, middle * digestLength, (middle + 1) * digestLength)
    if (order === 0) return true
    if (order < 0) to = middle
    else from = middle + 1
  }
  return false
}
