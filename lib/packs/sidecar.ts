import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import { findNameProblem } from './file-names.ts'

/** Exactly `size` bytes in canonical base64. */
const Base64Bytes = (size: number) =>
  z.string().refine(text => {
    const bytes = Buffer.from(text, 'base64')
    return bytes.length === size && bytes.toString('base64') === text
  }, `must be ${size} bytes in base64`)

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const ByteCount = z.int().min(0)

const SidecarShape = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1).max(255),
  size: ByteCount,
  sha256: Sha256,
  md5: z.string().regex(/^[0-9a-f]{32}$/),
  /** Bytes of each range but the last. */
  piece_size: z
    .int()
    .min(4096)
    .max(256 * 1024 * 1024),
  /** The SHA-256 of each range: enough for a pack of 1 TiB in ranges of 4 MiB. */
  pieces: z.array(Sha256).max(262_144).readonly(),
  files: z
    .array(
      z.strictObject({
        name: z.string().refine(name => findNameProblem(name) === undefined),
        size: ByteCount,
        sha256: Sha256.optional(),
      }),
    )
    .max(100_000)
    .readonly(),
  /** `key` is a raw Ed25519 public key. */
  signatures: z
    .array(z.strictObject({ key: Base64Bytes(32), signature: Base64Bytes(64) }))
    .max(32)
    .readonly(),
})

/** The digests and signatures of a pack, stored as JSON beside the pack. */
export const Sidecar = SidecarShape.refine(
  ({ size, piece_size, pieces }) => pieces.length === Math.ceil(size / piece_size),
  'there must be a digest of each piece',
)
export type Sidecar = z.infer<typeof Sidecar>

/** Maximum number of bytes of a sidecar. The digests of a pack of 1 TiB take 8 MiB. */
export const maxSidecarSize = 48 * 1024 * 1024

const createDamagedSidecarError = (why: string): ServiceError =>
  new ServiceError('upstream', `The sidecar of the pack is damaged: ${why}.`)

/** Encodes a value as JSON with sorted keys and without spaces, so that equal values give equal texts. */
const encodeCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

/** Encodes a sidecar. Equal content gives equal text. */
export const encodeSidecar = (sidecar: Sidecar): string => encodeCanonicalJson(sidecar)

/** Parses the text of a sidecar that comes from a provider. Throws `upstream` for a damaged one. */
export const parseSidecar = (text: string): Sidecar => {
  if (text.length > maxSidecarSize) throw createDamagedSidecarError(`it is longer than ${maxSidecarSize} bytes`)
  if (!isWithinJsonLimits(Buffer.from(text)))
    throw createDamagedSidecarError('it has too many values, or they are nested too deeply')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw createDamagedSidecarError(messageOf(error))
  }
  const parsed = Sidecar.safeParse(value)
  if (parsed.success) return parsed.data
  throw createDamagedSidecarError(describeFirstMistake(parsed.error))
}

/** Encodes what a signature covers: the sidecar without its signatures. */
const encodeSignedPart = (sidecar: Sidecar): Buffer =>
  Buffer.from(encodeCanonicalJson({ ...sidecar, signatures: undefined }))

const encodePublicKey = (key: KeyObject): string =>
  Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')

const decodePublicKey = (raw: string): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(raw, 'base64').toString('base64url') },
    format: 'jwk',
  })

/** Parses the key that signs packs. Throws `invalid` for anything but an Ed25519 private key in PEM. */
export const parseSigningKey = (pem: string): KeyObject => {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {
    // The error is dropped because its message could quote the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519')
    throw new ServiceError('invalid', 'The key to sign packs with is not an Ed25519 private key in PEM.')
  return key
}

/**
 * Returns the sidecar with an Ed25519 signature over its canonical text. The signature replaces an older one of the same
 * key. Throws `invalid` for anything but an Ed25519 private key in PEM.
 */
export const signSidecar = (sidecar: Sidecar, privateKeyPem: string): Sidecar => {
  const privateKey = parseSigningKey(privateKeyPem)
  const key = encodePublicKey(createPublicKey(privateKey))
  const signature = sign(null, encodeSignedPart(sidecar), privateKey).toString('base64')
  const otherSignatures = sidecar.signatures.filter(other => other.key !== key)
  return { ...sidecar, signatures: [...otherSignatures, { key, signature }] }
}

const createSignatureCheck = (sidecar: Sidecar): ((signature: Sidecar['signatures'][number]) => boolean) => {
  const text = encodeSignedPart(sidecar)
  return ({ key, signature }) => verify(null, text, decodePublicKey(key), Buffer.from(signature, 'base64'))
}

/** Returns the keys whose signatures of the sidecar are valid, whether they are trusted or not. */
export const findSigners = (sidecar: Sidecar): readonly string[] =>
  sidecar.signatures.filter(createSignatureCheck(sidecar)).map(({ key }) => key)

/** `off` accepts every pack, `warn` warns of a pack that no trusted key has signed, `require` refuses it. */
export type TrustPolicy = 'off' | 'warn' | 'require'

interface TrustOptions {
  readonly policy: TrustPolicy
  /** The trusted keys: raw Ed25519 public keys in base64. */
  readonly keys: readonly string[]
  readonly warn: (text: string) => void
}

/**
 * Looks for a valid signature of a trusted key and returns that key. The policy `off` looks for none. If there is none,
 * `require` throws `forbidden`, and `warn` calls `warn`.
 */
export const checkTrust = (sidecar: Sidecar, { policy, keys, warn }: TrustOptions): string | undefined => {
  if (policy === 'off') return undefined
  const isValid = createSignatureCheck(sidecar)
  const trusted = sidecar.signatures.find(signature => keys.includes(signature.key) && isValid(signature))
  if (trusted) return trusted.key
  const problem = `None of the trusted keys has signed the pack ${sidecar.name}.`
  if (policy === 'require')
    throw new ServiceError('forbidden', `${problem} Trust the key of its signer, or have it signed with a trusted key.`)
  warn(problem)
  return undefined
}
