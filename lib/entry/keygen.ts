import { resolve } from 'node:path'
import { generateKey } from '#lib/auth/signing-key.ts'
import { ServiceError } from '#lib/errors.ts'

/** Makes a private RSA key in a new file and says how to use it. */
export const keygen = async (file: string, bits: string): Promise<void> => {
  const size = Number(bits)
  if (!Number.isInteger(size) || size < 2048 || size > 16_384)
    throw new ServiceError('invalid', `--bits is ${bits}; it must be a whole number from 2048 to 16384.`)
  await generateKey(resolve(file), size)
  console.log(`Wrote a private RSA key of ${size} bits to ${file}, readable by you alone.`)
  console.log('To sign tokens with it, put it at keys/signing.pem in the state folder while the service is stopped.')
  console.log('An encrypted store opens with its own key alone: there use vmhost keys rotate, which changes both.')
}
