import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JWK } from 'jose'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import {
  exists,
  isSystemError,
  makePrivateFolder,
  removeUnfinished,
  renameSynced,
  writeFileAtomic,
} from '#lib/platform/files.ts'
import { type Algorithm, algorithms, isSecret } from './algorithms.ts'
import { checkPrivate, generateKey, readPrivateKey } from './signing-key.ts'
import { publicJwk, readVerificationText, type TokenKey, tokenKeyOf, verificationText } from './token-key.ts'

/** The keys of this host's tokens: one signs, and earlier ones verify until the last token of theirs has expired. */
export interface KeyRing {
  readonly algorithm: Algorithm
  /** The key that signs. */
  current(): TokenKey
  /** The key of a `kid`; undefined for one that is not known, or not any more. */
  find(keyId: string | undefined): TokenKey | undefined
  /** The public keys, for others who verify tokens; none where a secret signs. */
  publicKeys(): Promise<readonly JWK[]>
  /** Makes new keys and signs with them from now on. Gives the `kid` of the new one. */
  rotate(): Promise<string>
}

interface Options {
  /** `signing.pem`, `signing.secret` and `retired/`. */
  readonly folder: string
  readonly algorithm: Algorithm
  /** Seconds that a token lives. */
  readonly lifetime: number
  /** The host's private key, as it is in `signing.pem`. */
  readonly privateKey: KeyObject
  /** Puts a new private key in place of the old one, and does around it whatever else hangs on that key. */
  readonly replace: (next: KeyObject, putInPlace: () => Promise<void>) => Promise<void>
}

const Retired = z.object({
  algorithm: z.enum(algorithms),
  key_id: z.string(),
  key: z.string(),
  expires_at: z.iso.datetime(),
})

const secretSize = 64
/** Milliseconds that the old key goes on signing at most, after it was written down as one of before. */
const replacing = 60_000

const loadSecret = async (file: string): Promise<KeyObject> => {
  if (!(await exists(file))) {
    await makePrivateFolder(join(file, '..'))
    await writeFileAtomic(file, randomBytes(secretSize))
  }
  await checkPrivate(file)
  const bytes = await readFile(file)
  if (bytes.length !== secretSize)
    throw new ServiceError(
      'unavailable',
      `${file} is damaged. Put it back as it was, or remove it: then everybody has to sign in again.`,
    )
  return createSecretKey(bytes)
}

export const openKeyRing = async (options: Options): Promise<KeyRing> => {
  const { folder, algorithm, lifetime, replace } = options
  const files = {
    key: join(folder, 'signing.pem'),
    nextKey: join(folder, 'signing.next.pem'),
    secret: join(folder, 'signing.secret'),
    retired: join(folder, 'retired'),
  }
  const retired = new Map<string, TokenKey & { readonly expiresAt: number }>()
  let { privateKey } = options

  const currentKey = async (): Promise<TokenKey> =>
    tokenKeyOf(algorithm, isSecret(algorithm) ? await loadSecret(files.secret) : privateKey)
  const loadRetired = async (): Promise<void> => {
    const names = await readdir(files.retired).catch((error: unknown) => {
      if (isSystemError(error, 'ENOENT')) return []
      throw error
    })
    for (const name of names.filter(name => name.endsWith('.json'))) {
      const file = join(files.retired, name)
      const record = Retired.parse(JSON.parse(await readFile(file, 'utf8')))
      const expiresAt = Date.parse(record.expires_at)
      if (expiresAt <= Date.now()) await rm(file)
      else if (record.algorithm === algorithm)
        retired.set(record.key_id, {
          id: record.key_id,
          verification: readVerificationText(algorithm, record.key),
          expiresAt,
        })
    }
  }
  const retire = async (key: TokenKey): Promise<void> => {
    const expiresAt = Date.now() + lifetime * 1000 + replacing
    const record: z.infer<typeof Retired> = {
      algorithm,
      key_id: key.id,
      key: verificationText(key),
      expires_at: new Date(expiresAt).toISOString(),
    }
    await makePrivateFolder(files.retired)
    await writeFileAtomic(join(files.retired, `${key.id}.json`), JSON.stringify(record))
    retired.set(key.id, { id: key.id, verification: key.verification, expiresAt })
  }
  const living = (): readonly TokenKey[] =>
    [...retired.values()].filter(({ id, expiresAt }) => id !== current.id && expiresAt > Date.now())

  // A rotation that did not come to its end: the old key is still in place.
  await rm(files.nextKey, { force: true })
  await removeUnfinished(folder)
  await loadRetired()
  let current = await currentKey()
  let rotation: Promise<string> | undefined

  const rotate = async (): Promise<string> => {
    await rm(files.nextKey, { force: true })
    await generateKey(files.nextKey, privateKey.asymmetricKeyDetails?.modulusLength ?? 2048)
    const next = await readPrivateKey(files.nextKey)
    // Written before the new key is in place: tokens of the old one stay good whenever this process ends.
    await retire(current)
    await replace(next, () => renameSynced(files.nextKey, files.key))
    privateKey = next
    if (isSecret(algorithm)) await writeFileAtomic(files.secret, randomBytes(secretSize))
    current = await currentKey()
    return current.id
  }

  return {
    algorithm,
    current: () => current,
    find(keyId) {
      if (keyId === undefined || keyId === current.id) return current
      const key = retired.get(keyId)
      return key && key.expiresAt > Date.now() ? key : undefined
    },
    publicKeys: async () =>
      isSecret(algorithm) ? [] : Promise.all([current, ...living()].map(key => publicJwk(algorithm, key))),
    rotate: () => (rotation ??= rotate().finally(() => (rotation = undefined))),
  }
}
