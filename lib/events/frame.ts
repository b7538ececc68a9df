/** Bytes of a message: its JSON text, and the whole WebSocket frame, which shares its memory. */
export interface Framed {
  readonly text: Buffer
  readonly frame: Buffer
}

const finalText = 0x81

const headerOf = (length: number): Buffer => {
  if (length < 126) return Buffer.of(finalText, length)
  const header = Buffer.alloc(length < 65_536 ? 4 : 10)
  header[0] = finalText
  if (length < 65_536) {
    header[1] = 126
    header.writeUInt16BE(length, 2)
  } else {
    header[1] = 127
    header.writeBigUInt64BE(BigInt(length), 2)
  }
  return header
}

/**
 * A message as bytes that are the same for every client (a server masks nothing: RFC 6455, 5.2): made once, and written
 * as they are. Making them for each client costs a third of sending them.
 */
export const framed = (message: object): Framed => {
  const json = Buffer.from(JSON.stringify(message))
  const header = headerOf(json.length)
  const frame = Buffer.concat([header, json])
  return { frame, text: frame.subarray(header.length) }
}
