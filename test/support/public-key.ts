import { generateKeyPairSync } from 'node:crypto'

const field = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Returns a new public key as in a file `id_ed25519.pub`. */
export const newPublicKey = (): string => {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const bytes = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.from(x!, 'base64url'))])
  return `ssh-ed25519 ${bytes.toString('base64')} somebody@example.org`
}
