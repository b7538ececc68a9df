/** A reply that is already JSON text in bytes, with the tag that stands for its content (RFC 9110, 8.8.3). */
export class Encoded {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  /** Of this reply alone, such as Link. */
  readonly headers: Readonly<Record<string, string>>

  constructor(bytes: Uint8Array<ArrayBuffer>, etag: string, headers: Readonly<Record<string, string>> = {}) {
    this.bytes = bytes
    this.etag = etag
    this.headers = headers
  }
}
