/** A reply of another type than JSON; it may go on for as long as there is something to say. */
export class Stream {
  readonly type: string
  readonly body: ReadableStream<Uint8Array> | string

  constructor(type: string, body: ReadableStream<Uint8Array> | string) {
    this.type = type
    this.body = body
  }
}
