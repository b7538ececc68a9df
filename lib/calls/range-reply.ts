import { SpecialReply } from './special-reply.ts'

/** An object whose bytes can be read in ranges (RFC 9110, 14). */
export interface RangeSource {
  /** Size of the whole object in bytes. */
  readonly size: number
  /** The ETag of the content, with its quotes. */
  readonly etag: string
  /** Reads the bytes from `start` to `end` − 1. */
  readonly read: (range: { readonly start: number; readonly end: number }) => Promise<ReadableStream<Uint8Array>>
}

/** A reply with the content of an object, or with the range of it that the request names. */
export class RangeReply extends SpecialReply {
  readonly source: RangeSource

  constructor(source: RangeSource) {
    super()
    this.source = source
  }
}
