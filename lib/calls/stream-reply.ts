import { SpecialReply } from './special-reply.ts'

/** A reply with another media type than JSON. Its body may stream without an end. */
export class StreamReply extends SpecialReply {
  readonly type: string
  readonly body: ReadableStream<Uint8Array> | string
  /** Headers of this reply only. */
  readonly headers: Readonly<Record<string, string>>

  constructor(type: string, body: ReadableStream<Uint8Array> | string, headers: StreamReply['headers'] = {}) {
    super()
    this.type = type
    this.body = body
    this.headers = headers
  }

  /** Cancels the body for a HEAD request, so that its resources are released. Gives the empty body. */
  cancel(): null {
    if (typeof this.body !== 'string') void this.body.cancel()
    return null
  }
}
