import { resolve } from 'node:path'
import { generateKeyFile } from '#lib/auth/key-keepers/key-files.ts'
import { ServiceError } from '#lib/errors.ts'

/**
 * Creates a private RSA key in a new file and prints how to use it. Throws `invalid` for a wrong size and `conflict` if the
 * file exists.
 */
export const createKeyFile = async (file: string, bits: string): Promise<void> => {
  const size = Number(bits)
  if (!Number.isInteger(size) || size < 2048 || size > 16_384)
    throw new ServiceError('invalid', `--bits is ${bits}; it must be a whole number from 2048 to 16384.`)
  await generateKeyFile(resolve(file), size)
  console.log(`Wrote a private RSA key of ${size} bits to ${file}; only you can read it.`)
  console.log('To sign tokens with it, put it at keys/signing.pem in the state folder while the service is stopped.')
  console.log('For an encrypted store use `vmhost keys rotate` instead, because only its present key opens the store.')
}
