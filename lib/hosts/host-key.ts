import { hash as digest, randomBytes, timingSafeEqual } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'

/** SHA-256 of a secret, in hexadecimal. The secrets of hosts are random and long, so they need no slow hash. */
const hashSecret = (secret: string): string => digest('sha256', secret)

/** The key of a host: its id and a secret. The host learns its id from the key. */
interface HostKey {
  readonly hostId: string
  readonly secret: string
}

/** Makes the key of a host, which is shown once, and the hash that is stored. */
export const createHostKey = (hostId: string): { readonly key: string; readonly hash: string } => {
  const secret = randomBytes(32).toString('hex')
  return { key: `${hostId}.${secret}`, hash: hashSecret(secret) }
}

/** The form of the key of a host. */
export const hostKeyPattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$/

/** Parses the key of a host; undefined when it has another form. */
export const parseHostKey = (key: string): HostKey | undefined => {
  const [, hostId, secret] = hostKeyPattern.exec(key) ?? []
  return hostId !== undefined && secret !== undefined ? { hostId, secret } : undefined
}

/** Returns the id of the host in its key. Throws `invalid` for a text of another form. */
export const getHostIdOfKey = (key: string): string => {
  const parsed = parseHostKey(key)
  if (parsed) return parsed.hostId
  throw new ServiceError(
    'invalid',
    'control_key is not the key of a host. Copy it from the reply that registered the host.',
  )
}

/** Whether a secret has this hash. The comparison of digests takes the same time wherever they differ. */
export const matchesSecret = (secret: string, hash: string): boolean => {
  const [given, stored] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)]
  return given.length === stored.length && timingSafeEqual(given, stored)
}
