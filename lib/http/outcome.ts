/** The result of a request: the reply that is sent, and the value or error that it was made from. */
export interface Outcome {
  readonly requestId: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  /** The handler's return value; undefined when it threw. */
  readonly value: unknown
  /** The thrown error, if any. */
  readonly error: unknown
  /** Duration from the request to its reply. */
  milliseconds: number
}
