/** A reply that is already JSON, as text or in bytes, with the tag that stands for its content (RFC 9110, 8.8.3). */
export class Encoded {
  readonly json: string | Uint8Array<ArrayBuffer>
  readonly etag: string
  /** Of this reply alone, such as Link. */
  readonly headers: Readonly<Record<string, string>>

  constructor(json: Encoded['json'], etag: string, headers: Readonly<Record<string, string>> = {}) {
    this.json = json
    this.etag = etag
    this.headers = headers
  }

  /** The JSON as text. */
  get text(): string {
    return typeof this.json === 'string' ? this.json : new TextDecoder().decode(this.json)
  }
}
