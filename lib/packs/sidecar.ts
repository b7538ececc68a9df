import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { firstMistake } from '#lib/schema-errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import { nameProblem } from './file-names.ts'

/** Bytes that are exactly `size`, in the one base64 form that there is of them. */
const base64Of = (size: number) =>
  z.string().refine(text => {
    const bytes = Buffer.from(text, 'base64')
    return bytes.length === size && bytes.toString('base64') === text
  }, `must be ${size} bytes in base64`)

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const bytes = z.int().min(0)

const SideFileShape = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1).max(255),
  size: bytes,
  sha256,
  md5: z.string().regex(/^[0-9a-f]{32}$/),
  piece_size: z
    .int()
    .min(4096)
    .max(256 * 1024 * 1024),
  /** 1 TiB in pieces of 4 MiB. */
  pieces: z.array(sha256).max(262_144).readonly(),
  files: z
    .array(
      z.strictObject({
        name: z.string().refine(name => nameProblem(name) === undefined),
        size: bytes,
        sha256: sha256.optional(),
      }),
    )
    .max(100_000)
    .readonly(),
  signatures: z
    .array(z.strictObject({ key: base64Of(32), signature: base64Of(64) }))
    .max(32)
    .readonly(),
})

/** What is known of a pack, kept as JSON beside it. `key` is a raw Ed25519 public key. */
export const SideFile = SideFileShape.refine(
  ({ size, piece_size, pieces }) => pieces.length === Math.ceil(size / piece_size),
  'there must be a digest of each piece',
)
export type SideFile = z.infer<typeof SideFile>

/** Bytes of the largest side file that is read. */
const longest = 48 * 1024 * 1024

const broken = (why: string): ServiceError =>
  new ServiceError('upstream', `The side file of the pack is not one: ${why}.`)

/** JSON with sorted keys and no spaces: one text for one value. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )

/** The text of a side file: the same for the same content. */
export const encodeSideFile = (side: SideFile): string => canonical(side)

/** Reads a side file, which comes from a provider. Throws `upstream` for one that is damaged. */
export const parseSideFile = (text: string): SideFile => {
  if (text.length > longest) throw broken(`it is longer than ${longest} bytes`)
  if (!isWithinJsonLimits(Buffer.from(text))) throw broken('it has too many values, or too deep in each other')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw broken(messageOf(error))
  }
  const parsed = SideFile.safeParse(value)
  if (parsed.success) return parsed.data
  throw broken(firstMistake(parsed.error))
}

/** What is signed: everything but the signatures. */
const signedText = (side: SideFile): Buffer => Buffer.from(canonical({ ...side, signatures: undefined }))

const rawKey = (key: KeyObject): string =>
  Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')

const publicKey = (raw: string): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(raw, 'base64').toString('base64url') },
    format: 'jwk',
  })

/** The key that packs are signed with. Throws `invalid` for what is no Ed25519 private key in PEM. */
export const readSigningKey = (pem: string): KeyObject => {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {
    // The reason could quote the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519')
    throw new ServiceError('invalid', 'The key to sign packs with is not an Ed25519 private key in PEM.')
  return key
}

/**
 * Adds an Ed25519 signature over the canonical text without signatures, in place of an older one by the same key.
 * Throws `invalid` for a key that is no Ed25519 private key in PEM.
 */
export const signSideFile = (side: SideFile, privateKeyPem: string): SideFile => {
  const privateKey = readSigningKey(privateKeyPem)
  const key = rawKey(createPublicKey(privateKey))
  const signature = sign(null, signedText(side), privateKey).toString('base64')
  const others = side.signatures.filter(one => one.key !== key)
  return { ...side, signatures: [...others, { key, signature }] }
}

const checkedOver = (side: SideFile): ((one: SideFile['signatures'][number]) => boolean) => {
  const text = signedText(side)
  return ({ key, signature }) => verify(null, text, publicKey(key), Buffer.from(signature, 'base64'))
}

/** The keys that have signed this, trusted or not. */
export const signersOf = (side: SideFile): readonly string[] =>
  side.signatures.filter(checkedOver(side)).map(({ key }) => key)

export type TrustPolicy = 'off' | 'warn' | 'require'

interface Trust {
  readonly policy: TrustPolicy
  /** Raw Ed25519 public keys in base64. */
  readonly keys: readonly string[]
  readonly warn: (text: string) => void
}

/**
 * Who of the trusted keys has signed, under `off` nobody is asked for. Where none has, `require` throws `forbidden`, and
 * `warn` calls `warn`.
 */
export const checkTrust = (side: SideFile, { policy, keys, warn }: Trust): string | undefined => {
  if (policy === 'off') return undefined
  const isGood = checkedOver(side)
  const signer = side.signatures.find(one => keys.includes(one.key) && isGood(one))
  if (signer) return signer.key
  const problem = `None of the trusted keys has signed the pack ${side.name}.`
  if (policy === 'require') throw new ServiceError('forbidden', `${problem} Trust its signer, or have it signed.`)
  warn(problem)
  return undefined
}

/** Bytes of a side file: a pack of a terabyte has 8 MiB of digests. */
export const largestSideFile = 48 * 1024 * 1024
