import { ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing-request.ts'
import type { ByteRange } from '#lib/objects/port/provider.ts'
import { bodyLimit } from '#lib/catalog/schemas.ts'
import type { RemoteCatalogSession } from './session.ts'

/** The query that names the downloaded object: its `content`, and the members that belong to that. */
type DownloadPart = Readonly<Record<string, string>>

const createWrongBytesError = (): ServiceError =>
  new ServiceError('upstream', 'The other catalog sent other bytes of the pack than were requested.')

/** Requests bytes; undefined when the service answers with something else, because it does not send bytes. */
const requestPart = async (
  { remote, server, caller, headers: sessionHeaders }: RemoteCatalogSession,
  path: string,
  query: DownloadPart,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<OutgoingReply | undefined> => {
  const request = {
    caller: caller.id,
    waitsForSlot: true,
    method: 'GET',
    path,
    query,
    headers: { ...sessionHeaders, ...headers },
    signal,
  }
  const reply = await remote.request(server, request, maxBytes)
  return reply.headers['content-type'] === 'application/octet-stream' ? reply : undefined
}

/** Reads a whole part of at most `maxBytes` bytes; undefined when the service does not send bytes. */
export const readRemotePart = async (
  session: RemoteCatalogSession,
  path: string,
  part: DownloadPart,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer<ArrayBuffer> | undefined> => (await requestPart(session, path, part, {}, maxBytes, signal))?.body

/** An object of a remote manifest. */
export interface RemoteContent {
  readonly size: number
  /** The ETag of the object, with its quotes; undefined when the service gives none. */
  readonly etag: string | undefined
  /**
   * Reads a range. With an ETag, the object must still have it. Throws `upstream` when the service sends other bytes, and what
   * `RemoteClient.request` throws.
   */
  read(range: ByteRange, signal: AbortSignal, etag?: string): Promise<Buffer<ArrayBuffer>>
}

/** Opens a part for reading in ranges; undefined when the service does not send bytes. Throws as `RemoteContent.read`. */
export const openRemoteContent = async (
  session: RemoteCatalogSession,
  path: string,
  part: DownloadPart,
  signal: AbortSignal,
): Promise<RemoteContent | undefined> => {
  // A service that does not send bytes answers with the manifest.
  const first = await requestPart(session, path, part, { Range: 'bytes=0-0' }, bodyLimit, signal)
  if (!first) return undefined
  const size = Number(/\/(\d+)$/.exec(first.headers['content-range'] ?? '')?.[1])
  if (first.status !== 206 || !Number.isSafeInteger(size)) throw createWrongBytesError()
  return {
    size,
    etag: /^"[\x21\x23-\x7e]+"$/.exec(first.headers.etag ?? '')?.[0],
    async read({ start, end }, readSignal, etag) {
      // If the ETag has changed, the service sends the whole object with 200, which is refused below.
      const headers = { Range: `bytes=${start}-${end - 1}`, ...(etag !== undefined && { 'If-Range': etag }) }
      const reply = await requestPart(session, path, part, headers, end - start, readSignal)
      if (reply?.status !== 206 || reply.body.length !== end - start) throw createWrongBytesError()
      return reply.body
    },
  }
}
