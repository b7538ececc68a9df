import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Codec } from './codec.ts'

const algorithm = 'aes-256-gcm'
const version = 1
const nonceSize = 12
const tagSize = 16

/** Size of the data key in bytes. */
export const dataKeySize = 32

/**
 * Seals each row with AES-256-GCM: a version byte, a random nonce, the ciphertext, the tag. The associated data names the
 * row, so that rows cannot be swapped.
 */
export const sealCodec = (dataKey: Uint8Array): Codec => ({
  encode(associatedData, text) {
    const nonce = randomBytes(nonceSize)
    const cipher = createCipheriv(algorithm, dataKey, nonce)
    cipher.setAAD(Buffer.from(associatedData))
    return Buffer.concat([Buffer.of(version), nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  },
  decode(associatedData, bytes) {
    const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (sealed[0] !== version || sealed.length < 1 + nonceSize + tagSize)
      throw new Error(`${associatedData} is damaged`)
    const decipher = createDecipheriv(algorithm, dataKey, sealed.subarray(1, 1 + nonceSize), { authTagLength: tagSize })
    decipher.setAAD(Buffer.from(associatedData))
    decipher.setAuthTag(sealed.subarray(-tagSize))
    try {
      return decipher.update(sealed.subarray(1 + nonceSize, -tagSize), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new Error(`${associatedData} is damaged`)
    }
  },
})

/** The authentication tag of a sealed row, which is unique. */
export const getAuthTag = (sealed: Uint8Array): Uint8Array => sealed.subarray(-tagSize)
