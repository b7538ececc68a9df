import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'
import { plainCodecV1, type Codec, formatDocumentAssociatedData, plainCodec } from './codec.ts'
import { refuseOlderCopy } from './commit-counter.ts'
import { copyDatabase, type RawContent, readDatabase, withReadErrors } from './database-file.ts'
import { parseRawDocument } from './documents.ts'
import { isFirstVersion, linkedVersion, verifyFirstPlain, verifyFirstSealed } from './first-version.ts'
import { readLastCheckpoint, verifyLogBounds, verifyEntries } from './verify-entries.ts'
import { prepareQuery } from './query.ts'
import { createSeal, rewriteDatabase } from './rewrite.ts'
import { sealCodec } from './seal.ts'
import { createSealState, createRowMac, type SealedLog, type SealState } from './seal-state.ts'
import { refuseNewer } from './versions.ts'
import { type SealSecrets, unwrapDataKey, type WrappedKey } from './wrapped-key.ts'

/** The content of a verified database, with the codec and the state for writing to it. */
export interface VerifiedContent {
  readonly version: number
  readonly rows: ReadonlyMap<string, string>
  readonly logs: RawContent['logs']
  readonly codec: Codec
  /** Of a sealed database, from version 2 on. */
  readonly state: SealState | undefined
  /** Of a sealed database. */
  readonly dataKey: Buffer | undefined
  readonly wrappedKeys: readonly WrappedKey[]
  /** The path of a copy of the plain database, when this start sealed it. */
  readonly plainCopy?: string
}

const decodeRows = (raw: RawContent, codec: Codec): ReadonlyMap<string, string> =>
  new Map([...raw.rows].map(([key, bytes]) => [key, codec.decode(formatDocumentAssociatedData(key), bytes)]))

/** Verifies the entries of every log after its last checkpoint. Older entries are verified in the background and when they are read. */
const verifyLogs = (file: string, { logs }: RawContent, codec: Codec): ReadonlyMap<string, SealedLog> => {
  using database = new DatabaseSync(file, { readOnly: true })
  return new Map(
    [...logs].map(([name, { first, last }]) => {
      const { seq, link } = verifyEntries(database, codec, name, {
        after: readLastCheckpoint(database, codec, name),
        limit: -1,
        isSealed: true,
      })
      if (seq !== last || link === undefined) throw new Error(`entries of ${name} are missing`)
      return [name, { first, last, link }]
    }),
  )
}

const verifyPlainLogs = (file: string, { logs }: RawContent): void => {
  using database = new DatabaseSync(file, { readOnly: true })
  for (const [name, bounds] of logs) verifyLogBounds(database, plainCodec, name, bounds)
  const checkpointed = prepareQuery<{ name: string }>(database, 'SELECT DISTINCT name FROM checkpoint').all()
  for (const { name } of checkpointed) if (!logs.has(name)) throw new Error(`entries of ${name} are missing`)
}

const verifySealed = (file: string, raw: RawContent, codec: Codec, dataKey: Buffer): SealState => {
  const stored = raw.state ? codec.decode('state', raw.state) : '{}'
  // What `text` of a seal state wrote. Anything else is not equal to `state.text()` below.
  const { commits = 0 } = JSON.parse(stored) as { commits?: number }
  const logs = verifyLogs(file, raw, codec)
  const state = createSealState({ version: raw.version, commits, rows: raw.rows, logs }, createRowMac(dataKey))
  if (stored !== state.text())
    throw new Error('it is not as the last commit left it: something is missing or comes from an older copy')
  return state
}

/** Verifies the raw content of a database. Throws `unavailable`. */
const verifyContent = (file: string, raw: RawContent, dataKey: Buffer | undefined): VerifiedContent =>
  withReadErrors(file, () => {
    const isFirst = isFirstVersion(raw.version)
    const { version, wrappedKeys } = raw
    const codec = dataKey ? sealCodec(dataKey) : isFirst ? plainCodecV1 : plainCodec
    const rows = decodeRows(raw, codec)
    if (!dataKey && isFirst) verifyFirstPlain(file, raw, rows)
    if (dataKey && isFirst) verifyFirstSealed(file, raw, codec, dataKey)
    if (!dataKey && !isFirst) verifyPlainLogs(file, raw)
    const state = dataKey && !isFirst ? verifySealed(file, raw, codec, dataKey) : undefined
    return { version, rows, logs: raw.logs, codec, state, dataKey, wrappedKeys }
  })

/**
 * Reads and verifies a whole database without changing its file. Throws `unavailable` for a database that is damaged, that
 * these secrets do not open, or that is newer than `newest`. A plain database needs no secrets.
 */
export const verifyDatabase = async (
  file: string,
  secrets: SealSecrets | undefined,
  newest: number,
): Promise<VerifiedContent> => {
  const raw = readDatabase(file)
  refuseNewer(file, raw.version, newest)
  if (raw.wrappedKeys.length === 0 && !raw.state) return verifyContent(file, raw, undefined)
  if (secrets) return verifyContent(file, raw, await unwrapDataKey(raw.wrappedKeys, secrets))
  throw new ServiceError(
    'unavailable',
    `The store ${file} is encrypted. Nothing was changed; set VMHOST_STORAGE_PASSWORD to its password.`,
  )
}

/** Verifies a database that this process has open and has verified before. Throws `unavailable`. */
export const verifyAgain = (file: string, dataKey: Buffer | undefined): VerifiedContent =>
  verifyContent(file, readDatabase(file), dataKey)

/** A file that exists once the store in a folder was encrypted. From then on a plain store there is refused. */
const getEncryptedMarkerFile = (folder: string): string => join(folder, 'keys', 'store-is-encrypted')

/** Throws `unavailable` for a plain database in a folder whose store was encrypted: an attacker may have put it there. */
export const refusePlainReplacement = (file: string, verified: VerifiedContent, folder: string): void => {
  const marker = getEncryptedMarkerFile(folder)
  if (!verified.dataKey && existsSync(marker))
    throw new ServiceError(
      'unavailable',
      `${file} is not encrypted, and the store in ${folder} was. Nothing was changed; if that is meant, remove ${marker} first.`,
    )
}

/**
 * Rewrites a database of the first version in the format of the second. The content of its rows and the data key of a sealed
 * database stay, so this is not a migration.
 */
const upgradeFirstVersion = (file: string, { codec, dataKey, wrappedKeys }: VerifiedContent): Promise<void> =>
  rewriteDatabase(file, {
    version: linkedVersion,
    rows: readDatabase(file).rows,
    codec,
    seal: dataKey && { dataKey, wrappedKeys },
    exists: true,
  })

/** Seals a plain database. Gives the path of a copy of the plain one. */
const sealPlainDatabase = async (
  file: string,
  { version, rows, codec }: VerifiedContent,
  secrets: SealSecrets,
): Promise<string> => {
  // Damaged rows must not be sealed as if they were valid.
  withReadErrors(file, () => [...rows].forEach(([key, text]) => void parseRawDocument(key, text)))
  const plainCopy = `${file}.plain`
  await copyDatabase(file, plainCopy)
  const sealed = await createSeal(secrets)
  await rewriteDatabase(file, { version, rows: readDatabase(file).rows, codec, seal: sealed, exists: true })
  return plainCopy
}

/**
 * Verifies a database before use and brings it into the current format: sealed when there are secrets, and version 2 at
 * least. Keeps a copy of a database that it changes: `FILE.before-NEWEST` of an older version, `FILE.plain` of a plain one.
 */
export const prepareDatabase = async (
  file: string,
  secrets: SealSecrets | undefined,
  newest: number,
): Promise<VerifiedContent> => {
  let verified = await verifyDatabase(file, secrets, newest)
  const folder = dirname(file)
  refusePlainReplacement(file, verified, folder)
  if (verified.dataKey) refuseOlderCopy(file, verified.dataKey, verified.state?.commits())
  if (verified.version < newest) await copyDatabase(file, `${file}.before-${newest}`)
  if (isFirstVersion(verified.version)) {
    await upgradeFirstVersion(file, verified)
    verified = await verifyDatabase(file, secrets, newest)
  }
  if (!secrets) return verified
  const plainCopy = verified.dataKey ? undefined : await sealPlainDatabase(file, verified, secrets)
  const marker = getEncryptedMarkerFile(folder)
  if (!existsSync(marker)) {
    await makePrivateFolder(dirname(marker))
    await writeFileAtomic(marker, '')
  }
  return plainCopy === undefined ? verified : { ...(await verifyDatabase(file, secrets, newest)), plainCopy }
}

/** Rewrites a sealed database with new secrets and a new data key. */
export const resealDatabase = async (
  file: string,
  before: SealSecrets,
  after: SealSecrets,
  newest: number,
): Promise<void> => {
  const { version, codec, dataKey } = await verifyDatabase(file, before, newest)
  if (!dataKey)
    throw new ServiceError('conflict', `${file} is not encrypted; a start with VMHOST_STORAGE_PASSWORD encrypts it.`)
  if (isFirstVersion(version))
    throw new ServiceError('conflict', `${file} was written by an older vmhost; start this one once, then do it again.`)
  const sealed = await createSeal(after)
  await rewriteDatabase(file, { version, rows: readDatabase(file).rows, codec, seal: sealed, exists: true })
}
