import { ServiceError } from '#lib/errors.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import { toStream } from '#lib/objects/http/response-body.ts'
import { createStreamLimit } from '#lib/catalog/stream-limit.ts'
import { openRemoteContent } from '../remote-download.ts'
import type { RemoteCatalogSession } from '../session.ts'

/** Bytes that are asked for at once: so many of each reader are in memory, however large the pack is. */
const piece = 4 * 1024 * 1024
/** Streams that one caller may have open. */
const most = 8

type Query = Readonly<Record<string, string>>

/**
 * Opens bytes that a peer hands out at a path, to be passed on piece by piece as fast as they are read. Throws what the
 * peer refuses with, and `upstream` when it hands out none; reading, `unavailable` for who reads too many at once.
 */
export const createContentForwarder = () => {
  const openFor = createStreamLimit(most)
  return async (peer: RemoteCatalogSession, path: string, query: Query, signal: AbortSignal): Promise<RangeSource> => {
    const bytes = await openRemoteContent(peer, path, query, signal)
    const etag = bytes?.etag
    if (!bytes || etag === undefined)
      throw new ServiceError(
        'upstream',
        'The remote catalog does not hand out the bytes of its packs: pull the manifest in place of it.',
      )
    return {
      size: bytes.size,
      etag,
      read: ({ start, end }) =>
        openFor(peer.caller.id, async () => {
          const gone = new AbortController()
          const reading = AbortSignal.any([signal, gone.signal])
          const pieces = async function* (): AsyncGenerator<Uint8Array> {
            for (let at = start; at < end; at += piece)
              yield await bytes.read({ start: at, end: Math.min(at + piece, end) }, reading, etag)
          }
          return toStream(pieces(), () => gone.abort())
        }),
    }
  }
}
