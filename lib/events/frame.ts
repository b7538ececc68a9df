/** A message in bytes: its JSON text, and the whole WebSocket frame. Both share one buffer. */
export interface EncodedMessage {
  readonly text: Buffer
  readonly frame: Buffer
}

const finalTextFrame = 0x81

const encodeHeader = (length: number): Buffer => {
  if (length < 126) return Buffer.of(finalTextFrame, length)
  const header = Buffer.alloc(length < 65_536 ? 4 : 10)
  header[0] = finalTextFrame
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
 * Encodes a message once for all clients: a server's frames are not masked (RFC 6455, 5.2), so they are the same for each
 * client. Encoding for each client would cost a third of sending.
 */
export const encodeMessage = (message: object): EncodedMessage => {
  const json = Buffer.from(JSON.stringify(message))
  const header = encodeHeader(json.length)
  const frame = Buffer.concat([header, json])
  return { frame, text: frame.subarray(header.length) }
}
