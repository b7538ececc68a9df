import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '#lib/errors.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { type Codec, documentPlace, entryPlace, plainCodec } from './codec.ts'
import {
  copyDatabase,
  ensureTables,
  foldLog,
  type RawContent,
  readDatabase,
  reading,
  stateRow,
  writeDatabase,
} from './database-file.ts'
import { envelopeOf } from './documents.ts'
import { dataKeySize, sealCodec } from './seal.ts'
import { createSealState, rowMarks, type SealState } from './seal-state.ts'
import { type SealSecrets, unwrapDataKey, type Wrap, wrapDataKey } from './wrap.ts'

/** A database that was read and found whole: what is in it, and what it is written with from now on. */
export interface Unlocked {
  readonly version: number
  readonly rows: ReadonlyMap<string, string>
  readonly codec: Codec
  readonly state: SealState | undefined
  /** Of a sealed database. */
  readonly dataKey: Buffer | undefined
  readonly wraps: readonly Wrap[]
  /** Where a copy of the plain database was left, when this start sealed it. */
  readonly plainCopy?: string
}

const decodeRows = (raw: RawContent, codec: Codec): ReadonlyMap<string, string> =>
  new Map([...raw.rows].map(([key, bytes]) => [key, codec.decode(documentPlace(key), bytes)]))

/** Opens every entry of every log once: they are read later, when it would be too late to refuse the database. */
const proveLogs = (file: string, { logs }: RawContent, codec: Codec): void => {
  if (logs.size === 0) return
  using database = new DatabaseSync(file, { readOnly: true })
  const counts = new Map<string, number>()
  for (const row of database.prepare('SELECT name, seq, value FROM log').iterate()) {
    const { name, seq, value } = row as { name: string; seq: number; value: Uint8Array }
    codec.decode(entryPlace(name, seq), value)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const [name, { first, last }] of logs)
    if (counts.get(name) !== last - first + 1) throw new Error(`entries of ${name} are missing`)
}

const openSealed = async (file: string, raw: RawContent, secrets: SealSecrets): Promise<Unlocked> => {
  const dataKey = await unwrapDataKey(raw.wraps, secrets)
  const codec = sealCodec(dataKey)
  return reading(file, () => {
    const rows = decodeRows(raw, codec)
    const state = createSealState(raw, rowMarks(dataKey))
    proveLogs(file, raw, codec)
    if (!raw.state || codec.decode('state', raw.state) !== state.text())
      throw new Error('it is not as the last commit left it: something is missing or comes from an older copy')
    return { version: raw.version, rows, codec, state, dataKey, wraps: raw.wraps }
  })
}

/** Writes a whole database again, sealed under a new data key, and puts it in place of the old one in one step. */
const writeAgain = async (file: string, raw: RawContent, before: Codec, secrets: SealSecrets): Promise<void> => {
  const dataKey = randomBytes(dataKeySize)
  const codec = sealCodec(dataKey)
  const wrap = await wrapDataKey(dataKey, secrets)
  // Nobody else has it open, and the new file must not meet the old one's log.
  foldLog(file)
  const state = createSealState({ version: raw.version, rows: new Map(), logs: raw.logs }, rowMarks(dataKey))
  const source = new DatabaseSync(file, { readOnly: true })
  try {
    writeDatabase(file, raw.version, database => {
      const put = database.prepare('INSERT INTO kv VALUES (?, ?)')
      for (const [key, bytes] of raw.rows) {
        const place = documentPlace(key)
        const sealed = codec.encode(place, before.decode(place, bytes))
        put.run(key, sealed)
        state.setDocument(key, sealed)
      }
      const append = database.prepare('INSERT INTO log VALUES (?, ?, ?)')
      for (const row of source.prepare('SELECT name, seq, value FROM log').iterate()) {
        const { name, seq, value } = row as { name: string; seq: number; value: Uint8Array }
        const place = entryPlace(name, seq)
        append.run(name, seq, codec.encode(place, before.decode(place, value)))
      }
      const putSeal = database.prepare('INSERT INTO seal VALUES (?, ?)')
      putSeal.run(stateRow, codec.encode('state', state.text()))
      putSeal.run(stateRow + 1, Buffer.from(JSON.stringify(wrap)))
    })
  } finally {
    source.close()
  }
}

/** An empty database of this version of content, sealed where there are secrets. */
export const createDatabase = async (
  file: string,
  version: number,
  secrets: SealSecrets | undefined,
): Promise<void> => {
  const dataKey = randomBytes(dataKeySize)
  const wrap = secrets && (await wrapDataKey(dataKey, secrets))
  const codec = sealCodec(dataKey)
  writeDatabase(file, version, database => {
    if (!wrap) return
    const state = createSealState({ version, rows: new Map(), logs: new Map() }, rowMarks(dataKey))
    const putSeal = database.prepare('INSERT INTO seal VALUES (?, ?)')
    putSeal.run(stateRow, codec.encode('state', state.text()))
    putSeal.run(stateRow + 1, Buffer.from(JSON.stringify(wrap)))
  })
}

/**
 * Reads a database wholly and proves it, without changing a byte. Throws `unavailable` for one that is damaged, or not
 * to be opened with these secrets. A plain one is read whatever the secrets are.
 */
export const proveDatabase = async (file: string, secrets: SealSecrets | undefined): Promise<Unlocked> => {
  const raw = readDatabase(file)
  if (raw.wraps.length === 0 && !raw.state) {
    const rows = reading(file, () => decodeRows(raw, plainCodec))
    return { version: raw.version, rows, codec: plainCodec, state: undefined, dataKey: undefined, wraps: [] }
  }
  if (secrets) return openSealed(file, raw, secrets)
  throw new ServiceError(
    'unavailable',
    `The store ${file} is encrypted. Nothing was changed; set VMHOST_STORAGE_PASSWORD to its password.`,
  )
}

/**
 * Refuses a plain database where there was an encrypted one: somebody may have put it there. `secrets.mark` is the file
 * that says so. Throws `unavailable`.
 */
export const refusePlain = (file: string, proven: Unlocked, secrets: SealSecrets | undefined): void => {
  if (secrets?.mark !== undefined && !proven.dataKey && existsSync(secrets.mark))
    throw new ServiceError(
      'unavailable',
      `${file} is not encrypted, and the store here was. Nothing was changed; if you put it there yourself, remove ${secrets.mark} first.`,
    )
}

/** Proves a database, and seals a plain one when there are secrets for it; a copy of what it was is kept then. */
export const unlock = async (file: string, secrets: SealSecrets | undefined): Promise<Unlocked> => {
  const proven = await proveDatabase(file, secrets)
  refusePlain(file, proven, secrets)
  if (secrets?.mark !== undefined && proven.dataKey && !existsSync(secrets.mark))
    await writeFileAtomic(secrets.mark, '')
  if (!secrets || proven.dataKey) return proven
  // Garbage must not be sealed as if it were data.
  reading(file, () => [...proven.rows].forEach(([key, text]) => void envelopeOf(key, text)))
  const plainCopy = `${file}.plain`
  await copyDatabase(file, plainCopy)
  ensureTables(file)
  await writeAgain(file, readDatabase(file), plainCodec, secrets)
  if (secrets.mark !== undefined) await writeFileAtomic(secrets.mark, '')
  return { ...(await proveDatabase(file, secrets)), plainCopy }
}

/** Seals a sealed database anew, under new secrets and a new data key. */
export const sealAgain = async (file: string, before: SealSecrets, after: SealSecrets): Promise<void> => {
  const raw = readDatabase(file)
  if (raw.wraps.length === 0)
    throw new ServiceError('conflict', `${file} is not encrypted; a start with VMHOST_STORAGE_PASSWORD encrypts it.`)
  const { codec } = await openSealed(file, raw, before)
  await writeAgain(file, raw, codec, after)
}
