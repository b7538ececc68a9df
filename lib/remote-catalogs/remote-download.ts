import { ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing.ts'
import type { ByteRange } from '#lib/objects/port/provider.ts'
import { bodyLimit } from '#lib/catalog/schemas.ts'
import type { RemoteCatalogSession } from './session.ts'

/** What is asked for of a peer's download: its `content`, and what belongs to that. */
type DownloadPart = Readonly<Record<string, string>>

const createWrongBytesError = (): ServiceError =>
  new ServiceError('upstream', 'The other catalog sent other bytes of the pack than it was asked for.')

const requestPart = async (
  { remote, server, caller, headers: own }: RemoteCatalogSession,
  path: string,
  query: DownloadPart,
  headers: Readonly<Record<string, string>>,
  most: number,
  signal: AbortSignal,
): Promise<OutgoingReply | undefined> => {
  const request = {
    caller: caller.id,
    waits: true,
    method: 'GET',
    path,
    query,
    headers: { ...own, ...headers },
    signal,
  }
  const reply = await remote.request(server, request, most)
  return reply.headers['content-type'] === 'application/octet-stream' ? reply : undefined
}

/** The whole of a part, of at most so many bytes; undefined where the service does not hand out bytes. */
export const readRemotePart = async (
  peer: RemoteCatalogSession,
  path: string,
  part: DownloadPart,
  most: number,
  signal: AbortSignal,
): Promise<Buffer<ArrayBuffer> | undefined> => (await requestPart(peer, path, part, {}, most, signal))?.body

/** Bytes that a peer hands out. */
export interface RemoteContent {
  readonly size: number
  /** Stands for them, with its quotes; undefined where the service does not say. */
  readonly etag: string | undefined
  /** Those of a range; with a tag as long as they have it. Throws `upstream` for others, and what `Remote.read` does. */
  read(range: ByteRange, signal: AbortSignal, etag?: string): Promise<Buffer<ArrayBuffer>>
}

/** A part that is read in ranges; undefined where the service does not hand out bytes. Throws as `HandedOut.read`. */
export const openRemoteContent = async (
  peer: RemoteCatalogSession,
  path: string,
  part: DownloadPart,
  signal: AbortSignal,
): Promise<RemoteContent | undefined> => {
  // One that hands out no bytes answers with its manifest again.
  const first = await requestPart(peer, path, part, { Range: 'bytes=0-0' }, bodyLimit, signal)
  if (!first) return undefined
  const size = Number(/\/(\d+)$/.exec(first.headers['content-range'] ?? '')?.[1])
  if (first.status !== 206 || !Number.isSafeInteger(size)) throw createWrongBytesError()
  return {
    size,
    etag: /^"[\x21\x23-\x7e]+"$/.exec(first.headers.etag ?? '')?.[0],
    async read({ start, end }, reading, etag) {
      // Where the tag is another by now the whole is sent, which is not what was asked for.
      const headers = { Range: `bytes=${start}-${end - 1}`, ...(etag !== undefined && { 'If-Range': etag }) }
      const reply = await requestPart(peer, path, part, headers, end - start, reading)
      if (reply?.status !== 206 || reply.body.length !== end - start) throw createWrongBytesError()
      return reply.body
    },
  }
}
