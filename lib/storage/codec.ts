/** How text becomes the bytes of a row and back. `place` is where the row is: bytes from another place are not read. */
export interface Codec {
  encode(place: string, text: string): Uint8Array
  /** Throws on bytes that are not what `encode` made for this place. */
  decode(place: string, bytes: Uint8Array): string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Text as it is, in UTF-8. */
export const plainCodec: Codec = {
  encode: (_, text) => Buffer.from(text),
  decode: (_, bytes) => utf8.decode(bytes),
}

export const documentPlace = (key: string): string => `document ${key}`
export const entryPlace = (log: string, seq: number): string => `entry ${log} ${seq}`
