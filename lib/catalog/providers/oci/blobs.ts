import { checked, checkPartial, discard, isDone, rangeHeader, refusal } from '../reply.ts'
import { bodyOfBytes, type Limits, type Reply, retry } from '../request.ts'
import type { ByteRange } from '../provider.ts'
import type { Piece } from './manifest.ts'
import type { Registry } from './registry.ts'

/** An upload under way: where its next bytes go, and how many are there. */
interface Upload {
  readonly url: URL
  readonly offset: number
}

const headers = { 'Content-Type': 'application/octet-stream' }

/** How many bytes of an upload a registry has: `Range: 0-99`, and of none `0-0` or nothing, by their age. */
const offsetOf = ({ headers }: Reply): number => {
  const [, last = '0'] = /^(?:bytes=)?0-(\d+)$/.exec(headers.get('range') ?? '') ?? []
  return Number(last) === 0 ? 0 : Number(last) + 1
}

/** The blobs of a repository. `from`: another repository of the registry that may have them. */
export const createBlobs = (registry: Registry, limits: Limits, from: string | undefined) => {
  const { name, url, next, send, sendOnce, read } = registry

  const exists = async ({ digest }: Piece, signal: AbortSignal | undefined): Promise<boolean> => {
    const reply = await read(url(`blobs/${digest}`), { method: 'HEAD', signal })
    await discard(reply)
    if (reply.status !== 200 && reply.status !== 404) throw await refusal(name, reply, 'a blob was looked up')
    return reply.status === 200
  }

  /** Begins an upload; undefined when the registry has mounted the blob instead. */
  const begin = async ({ digest }: Piece, signal: AbortSignal | undefined): Promise<Upload | undefined> => {
    const mount = from === undefined ? '' : `?${new URLSearchParams({ mount: digest, from })}`
    const reply = await sendOnce(url(`blobs/uploads/${mount}`), { method: 'POST', signal })
    if (reply.status !== 201 && reply.status !== 202) throw await refusal(name, reply, 'an upload was begun')
    await discard(reply)
    return reply.status === 201 ? undefined : { url: next(reply), offset: 0 }
  }

  /** How far an upload is; undefined where the registry does not say, or has forgotten it. */
  const reached = async (upload: Upload, signal: AbortSignal | undefined): Promise<Upload | undefined> => {
    const reply = await sendOnce(upload.url, { method: 'GET', signal })
    await discard(reply)
    return reply.status === 204 ? { url: next(reply), offset: offsetOf(reply) } : undefined
  }

  /** Ends an upload. Registries compare the digest now. */
  const end = async (upload: Upload, piece: Piece, signal: AbortSignal | undefined): Promise<void> => {
    // The registry's own query stays as it has written it.
    const { href, search } = upload.url
    const place = new URL(`${href}${search === '' ? '?' : '&'}digest=${piece.digest}`)
    const reply = await send(place, { method: 'PUT', headers, signal })
    if (isDone(reply)) return discard(reply)
    const error = await refusal(name, reply, 'an upload was ended')
    // When the answer to a first try was lost, the second finds no upload, but the blob.
    if (!(await exists(piece, signal))) throw error
  }

  return {
    /** Sends a piece that is not there yet: what the registry has of it, when the line breaks, is not sent again. */
    async write(piece: Piece, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
      if (await exists(piece, signal)) return
      let upload: Upload | undefined
      const send = async (): Promise<Upload | undefined> => {
        upload = (upload && (await reached(upload, signal))) ?? (await begin(piece, signal))
        if (!upload || upload.offset === piece.size) return upload
        const { offset } = upload
        const reply = await sendOnce(upload.url, {
          method: 'PATCH',
          headers: { ...headers, 'Content-Range': `${offset}-${piece.size - 1}` },
          body: bodyOfBytes(bytes.subarray(offset)),
          signal,
        })
        if (!isDone(reply)) throw await refusal(name, reply, 'a piece was sent')
        await discard(reply)
        return { url: next(reply), offset: piece.size }
      }
      const sent = await retry(send, limits, signal)
      if (sent) await end(sent, piece, signal)
    },

    /** The bytes of a piece, or some of them. All of them are compared with the digest, at their end. */
    async read(
      piece: Piece,
      { start, end }: ByteRange,
      signal: AbortSignal | undefined,
    ): Promise<AsyncIterable<Uint8Array>> {
      const isWhole = start === 0 && end === piece.size
      const call = { method: 'GET', headers: isWhole ? {} : rangeHeader({ start, end }), signal }
      const reply = await read(url(`blobs/${piece.digest}`), call)
      if (!isWhole) {
        await checkPartial(name, reply, { start, end }, 'a blob was read')
        return checked(name, reply.body, { size: end - start })
      }
      if (reply.status !== 200) throw await refusal(name, reply, 'a blob was read')
      return checked(name, reply.body, { size: piece.size, sha256: piece.digest.slice('sha256:'.length) })
    },
  }
}
