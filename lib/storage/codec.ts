import { crc32 } from 'node:zlib'

/** Converts text to the bytes of a row and back. `associatedData` names the row: bytes of another row are not decoded. */
export interface Codec {
  encode(associatedData: string, text: string): Uint8Array
  /** Throws on bytes that `encode` did not make with the same associated data. */
  decode(associatedData: string, bytes: Uint8Array): string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** UTF-8 without a checksum: the format of plain stores before version 2. */
export const plainCodecV1: Codec = {
  encode: (_, text) => Buffer.from(text),
  decode: (_, bytes) => utf8.decode(bytes),
}

const checksumLength = 8

/** CRC-32, in hex, of a row and its associated data. It is text so that older programs can still read the version. */
const computeChecksum = (associatedData: string, text: Uint8Array): string =>
  crc32(text, crc32(associatedData)).toString(16).padStart(checksumLength, '0')

/** UTF-8 after a checksum of the text and the associated data. */
export const plainCodec: Codec = {
  encode(associatedData, text) {
    const bytes = Buffer.from(`${'0'.repeat(checksumLength)}${text}`)
    bytes.write(computeChecksum(associatedData, bytes.subarray(checksumLength)), 'latin1')
    return bytes
  },
  decode(associatedData, bytes) {
    const text = bytes.subarray(checksumLength)
    const found = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(checksumLength, bytes.byteLength)).toString(
      'latin1',
    )
    if (found !== computeChecksum(associatedData, text)) throw new Error(`${associatedData} is damaged`)
    return utf8.decode(text)
  },
}

export const formatDocumentAssociatedData = (key: string): string => `document ${key}`
export const formatEntryAssociatedData = (log: string, seq: number): string => `entry ${log} ${seq}`
export const formatCheckpointAssociatedData = (log: string, seq: number): string => `checkpoint ${log} ${seq}`
