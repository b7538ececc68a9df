import { checked } from '../http/body.ts'
import { placeOf } from '../http/follow.ts'
import { rangeHeader, sizeOf } from '../http/range.ts'
import { discard, headerOf, isDone, refused } from '../http/reply.ts'
import { repeat } from '../http/retry.ts'
import type { Reply } from '../http/send.ts'
import { bodyOf } from '../http/sent-body.ts'
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
const offsetOf = (reply: Reply): number => {
  const [, last = '0'] = /^(?:bytes=)?0-(\d+)$/.exec(headerOf(reply, 'range') ?? '') ?? []
  return Number(last) === 0 ? 0 : Number(last) + 1
}

/** The blobs of a repository. `from`: another repository of the registry that may have them. */
export const createBlobs = ({ url, send, sendOnce, read }: Registry, from: string | undefined) => {
  const exists = async ({ digest }: Piece, signal: AbortSignal | undefined): Promise<boolean> => {
    const reply = await read({ url: url(`blobs/${digest}`), method: 'HEAD', signal })
    discard(reply)
    if (reply.status !== 200 && reply.status !== 404) throw refused(reply, 'a blob')
    return reply.status === 200
  }

  /** Begins an upload; undefined when the registry has mounted the blob instead. */
  const begin = async ({ digest }: Piece, signal: AbortSignal | undefined): Promise<Upload | undefined> => {
    const mount = from === undefined ? '' : `?${new URLSearchParams({ mount: digest, from })}`
    const reply = await sendOnce({ url: url(`blobs/uploads/${mount}`), method: 'POST', signal })
    if (reply.status !== 201 && reply.status !== 202) throw refused(reply, 'an upload')
    discard(reply)
    return reply.status === 201 ? undefined : { url: placeOf(reply), offset: 0 }
  }

  /** How far an upload is; undefined where the registry does not say, or has forgotten it. */
  const reached = async (upload: Upload, signal: AbortSignal | undefined): Promise<Upload | undefined> => {
    const reply = await sendOnce({ url: upload.url, method: 'GET', signal })
    discard(reply)
    return reply.status === 204 ? { url: placeOf(reply), offset: offsetOf(reply) } : undefined
  }

  /** Ends an upload. Registries compare the digest now. */
  const end = async (upload: Upload, piece: Piece, signal: AbortSignal | undefined): Promise<void> => {
    // The registry's own query stays as it has written it.
    const { href, search } = upload.url
    const url = new URL(`${href}${search === '' ? '?' : '&'}digest=${piece.digest}`)
    const reply = await send({ url, method: 'PUT', headers, signal })
    if (isDone(reply)) return discard(reply)
    const error = refused(reply, 'the end of an upload')
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
        const reply = await sendOnce({
          url: upload.url,
          method: 'PATCH',
          headers: { ...headers, 'Content-Range': `${offset}-${piece.size - 1}` },
          body: bodyOf(bytes.subarray(offset)),
          signal,
        })
        if (!isDone(reply)) throw refused(reply, 'a piece')
        discard(reply)
        return { url: placeOf(reply), offset: piece.size }
      }
      const sent = await repeat(send, signal)
      if (sent) await end(sent, piece, signal)
    },

    /** The bytes of a piece, or some of them. All of them are compared with the digest, at their end. */
    async read(
      piece: Piece,
      { start, end }: ByteRange,
      signal: AbortSignal | undefined,
    ): Promise<AsyncIterable<Uint8Array>> {
      const whole = start === 0 && end === piece.size
      const what = `the blob ${piece.digest}`
      const headers = whole ? {} : rangeHeader(what, { start, end })
      const reply = await read({ url: url(`blobs/${piece.digest}`), method: 'GET', headers, signal })
      if (!isDone(reply)) throw refused(reply, what)
      const { host } = reply.url
      if (whole)
        return checked(reply.body, { host, what, size: end, sha256: piece.digest.slice('sha256:'.length), signal })
      const [length, range] = [reply.headers['content-length'], reply.headers['content-range']]
      const size = sizeOf(reply.body, { host, what, length, range }, { start, end })
      return checked(reply.body, { host, what, size, signal })
    },
  }
}
