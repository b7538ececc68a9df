import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Codec } from './codec.ts'

const algorithm = 'aes-256-gcm'
const version = 1
const nonceSize = 12
const tagSize = 16

/** Bytes of the key that seals. */
export const dataKeySize = 32

/**
 * Seals each row with AES-256-GCM: a version byte, a random nonce, the ciphertext, the tag. The row's place is
 * authenticated with it, so that rows cannot be exchanged.
 */
export const sealCodec = (dataKey: Uint8Array): Codec => ({
  encode(place, text) {
    const nonce = randomBytes(nonceSize)
    const cipher = createCipheriv(algorithm, dataKey, nonce)
    cipher.setAAD(Buffer.from(place))
    return Buffer.concat([Buffer.of(version), nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  },
  decode(place, bytes) {
    const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (sealed[0] !== version || sealed.length < 1 + nonceSize + tagSize) throw new Error(`${place} is damaged`)
    const decipher = createDecipheriv(algorithm, dataKey, sealed.subarray(1, 1 + nonceSize), { authTagLength: tagSize })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(sealed.subarray(-tagSize))
    try {
      return decipher.update(sealed.subarray(1 + nonceSize, -tagSize), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new Error(`${place} is damaged`)
    }
  },
})

/** The part of a sealed row that no other one has. */
export const tagOf = (sealed: Uint8Array): Uint8Array => sealed.subarray(-tagSize)
