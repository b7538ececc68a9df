import { ServiceError } from '#lib/errors.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import { toStream } from '#lib/objects/http/response-body.ts'
import { createStreamLimit } from '#lib/catalog/stream-limit.ts'
import { openRemoteContent } from '../remote-download.ts'
import type { RemoteCatalogSession } from '../session.ts'

/** Bytes of one request to the remote service: each stream has that many in memory, however large the object is. */
const requestBytes = 4 * 1024 * 1024
/** The most streams that one caller may have open. */
const maxStreams = 8

type Query = Readonly<Record<string, string>>

/**
 * Opens an object of a remote catalog. Its bytes are requested as fast as the caller reads them. Throws the refusal of the
 * remote service, and `upstream` when it does not send bytes. Reading throws `unavailable` when the caller has too many open.
 */
export type ForwardContent = (
  session: RemoteCatalogSession,
  path: string,
  query: Query,
  signal: AbortSignal,
) => Promise<RangeSource>

export const createContentForwarder = (): ForwardContent => {
  const openLimited = createStreamLimit(maxStreams)
  return async (session, path, query, signal) => {
    const content = await openRemoteContent(session, path, query, signal)
    const etag = content?.etag
    if (!content || etag === undefined)
      throw new ServiceError('upstream', 'The remote catalog does not send the bytes of its packs: pull the manifest.')
    return {
      size: content.size,
      etag,
      read: ({ start, end }) =>
        openLimited(session.caller.id, async () => {
          const cancelled = new AbortController()
          const readSignal = AbortSignal.any([signal, cancelled.signal])
          const readRanges = async function* (): AsyncGenerator<Uint8Array> {
            for (let at = start; at < end; at += requestBytes)
              yield await content.read({ start: at, end: Math.min(at + requestBytes, end) }, readSignal, etag)
          }
          return toStream(readRanges(), () => cancelled.abort())
        }),
    }
  }
}
