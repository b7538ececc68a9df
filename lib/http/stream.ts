/** A reply whose body goes on for as long as there is something to say. */
export class Stream {
  readonly type: string
  readonly body: ReadableStream<Uint8Array>

  constructor(type: string, body: ReadableStream<Uint8Array>) {
    this.type = type
    this.body = body
  }
}
