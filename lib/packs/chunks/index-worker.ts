import type { MessagePort } from 'node:worker_threads'
import { messageOf } from '#lib/errors.ts'
import { parseChunkIndex } from './chunk-index.ts'
import { collectDigests, type CompactFile, toCompactFile } from './compact-index.ts'

/** The text of an index, and what to return of it: its files, or the digests of its chunks. */
export interface IndexJob {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly output: 'files' | 'digests'
}

/** The output of the job, or why the text is not an index. */
export type IndexResult =
  | { readonly files: readonly CompactFile[] }
  | { readonly digests: Uint8Array<ArrayBuffer> }
  | { readonly failure: string }

export const parseIndex = ({ bytes, output }: IndexJob): IndexResult => {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
    const files = parseChunkIndex(text)
    return output === 'files' ? { files: files.map(toCompactFile) } : { digests: collectDigests(files) }
  } catch (error) {
    return { failure: messageOf(error) }
  }
}

const listBuffers = (result: IndexResult): readonly ArrayBuffer[] => {
  if ('files' in result) return result.files.flatMap(({ digests, sizes }) => [digests.buffer, sizes.buffer])
  return 'digests' in result ? [result.digests.buffer] : []
}

/** Serves `index-parser.ts` in a worker thread: parses one index and ends. */
export const serve = (port: MessagePort, data: object): void => {
  // `index-parser.ts` starts the thread with it.
  const result = parseIndex(data as IndexJob)
  port.postMessage(result, listBuffers(result))
}
