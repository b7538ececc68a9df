import { SpecialReply } from './special-reply.ts'

/** A reply that is already serialized as JSON text or bytes, with its ETag (RFC 9110, 8.8.3). */
export class PreparedBody extends SpecialReply {
  readonly json: string | Uint8Array<ArrayBuffer>
  readonly etag: string
  /** Headers of this reply only, such as Link. */
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(json: PreparedBody['json'], etag: string, headers?: Readonly<Record<string, string>>) {
    super()
    this.json = json
    this.etag = etag
    this.headers = headers
  }

  /** The JSON as text. */
  get text(): string {
    return typeof this.json === 'string' ? this.json : new TextDecoder().decode(this.json)
  }
}

/** A JSON reply with its ETag that is too long for one string: its parts are generated while it is sent. */
export class PreparedParts extends SpecialReply {
  readonly parts: () => AsyncIterable<string>
  readonly etag: string
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(parts: PreparedParts['parts'], etag: string, headers?: Readonly<Record<string, string>>) {
    super()
    this.parts = parts
    this.etag = etag
    this.headers = headers
  }

  /** The parts as a byte stream. Each part is generated when the reader is ready for it. */
  get stream(): ReadableStream<Uint8Array> {
    const parts = this.parts()[Symbol.asyncIterator]()
    const encoder = new TextEncoder()
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
    })
  }
}
