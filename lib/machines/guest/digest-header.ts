import { ServiceError } from '#lib/errors.ts'

/** Formats a SHA-256 as the header Repr-Digest has it (RFC 9530). */
export const formatDigest = (digest: Buffer): string => `sha-256=:${digest.toString('base64')}:`

/** Reads the SHA-256 of a Repr-Digest header. Undefined without the header. Throws `invalid`. */
export const parseDigest = (header: string | null): Buffer | undefined => {
  if (header === null) return undefined
  const [, text = ''] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/i.exec(header) ?? []
  if (text === '') throw new ServiceError('invalid', 'Repr-Digest must have a SHA-256, as sha-256=:BASE64: (RFC 9530).')
  return Buffer.from(text, 'base64')
}

/** True if a Want-Repr-Digest header asks for a SHA-256. */
export const wantsDigest = (header: string | null): boolean =>
  header !== null && /(?:^|,)\s*sha-256(?:\s*=\s*(?:[1-9]|10))?\s*(?:,|$)/i.test(header)
