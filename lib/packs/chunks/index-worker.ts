import type { MessagePort } from 'node:worker_threads'
import { messageOf } from '#lib/errors.ts'
import { parseChunkedFiles } from './chunk-index.ts'
import { type CompactFile, compactFile, digestsIn } from './compact-index.ts'

/** What is wanted of the text of an index: its files, or the digests of its chunks. */
export interface IndexJob {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly wanted: 'files' | 'digests'
}

/** That, or why the text is none of an index. */
export type IndexResult =
  | { readonly files: readonly CompactFile[] }
  | { readonly digests: Uint8Array<ArrayBuffer> }
  | { readonly broken: string }

export const resultOf = ({ bytes, wanted }: IndexJob): IndexResult => {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
    const files = parseChunkedFiles(text)
    return wanted === 'files' ? { files: files.map(compactFile) } : { digests: digestsIn(files) }
  } catch (error) {
    return { broken: messageOf(error) }
  }
}

const buffersOf = (result: IndexResult): readonly ArrayBuffer[] => {
  if ('files' in result) return result.files.flatMap(({ digests, sizes }) => [digests.buffer, sizes.buffer])
  return 'digests' in result ? [result.digests.buffer] : []
}

/** The thread's side of `index-parser.ts`: one index, then it ends. */
export const serve = (port: MessagePort, data: object): void => {
  const result = resultOf(data as IndexJob)
  port.postMessage(result, buffersOf(result))
}
