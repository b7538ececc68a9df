import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { maxJournalSize, readBounded } from '#lib/platform/bounded-file.ts'
import { isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'
import { findHostKeys, formatHostName, type KnownKey } from './known-hosts.ts'
import type { SshRequest } from './schemas.ts'

/** The check of a host key during one connection. */
export interface HostKeyCheck {
  /** The types of keys that the host may present. Undefined allows any type. */
  readonly types: readonly string[] | undefined
  /** Throws `upstream` for a key that is not accepted. */
  verify(key: Buffer): void
  /** Called when the host has proved that it owns the key. */
  onVerified(): Promise<void>
}

/** Reads what is known of the host of a request and returns the check for its connection. */
export type StartHostKeyCheck = (
  request: Pick<SshRequest, 'host' | 'port' | 'fingerprint' | 'enable_insecure_key'>,
) => Promise<HostKeyCheck>

interface HostKeyOptions {
  /** Path of a known_hosts file of OpenSSH. */
  readonly file: string
  /** `accept-new` learns the key of an unknown host, `strict` refuses the host. */
  readonly policy: 'accept-new' | 'strict'
}

/** Computes the fingerprint of a key as `ssh-keygen -l` prints it. */
export const computeFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** Reads the type of a key, which its bytes begin with (RFC 4253, 6.6). */
const readKeyType = (key: Buffer): string => key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1')

const createRefusedKeyError = (message: string): ServiceError => new ServiceError('upstream', message)

const ignore = async (): Promise<void> => {}

export const createHostKeyChecks = ({ file, policy }: HostKeyOptions): StartHostKeyCheck => {
  const readKnownHosts = async (): Promise<string> =>
    readBounded(file, maxJournalSize).then(
      bytes => bytes.toString('utf8'),
      (error: unknown) => {
        if (isSystemError(error, 'ENOENT')) return ''
        throw error
      },
    )
  let lastWrite: Promise<unknown> = Promise.resolve()
  const addKey = (name: string, key: Buffer): Promise<void> => {
    // One write after the other, because each rewrites the whole file.
    const write = lastWrite.then(async () => {
      const text = await readKnownHosts()
      const known = findHostKeys(text, name)
      if (known.some(other => other.key.equals(key))) return
      // Another first connection to the same host got another key at the same time.
      if (known.length > 0)
        throw createRefusedKeyError(
          `${name} presented two different keys to its first connections. Somebody may be intercepting the connection.`,
        )
      await makePrivateFolder(dirname(file))
      const lines = text === '' || text.endsWith('\n') ? text : `${text}\n`
      await writeFileAtomic(file, `${lines}${name} ${readKeyType(key)} ${key.toString('base64')}\n`)
    })
    lastWrite = write.catch(() => undefined)
    return write
  }

  const checkKnown = (name: string, known: readonly KnownKey[], key: Buffer): void => {
    const sameKeys = known.filter(other => other.key.equals(key))
    if (sameKeys.some(({ isRevoked }) => isRevoked))
      throw createRefusedKeyError(`The key of ${name} (${computeFingerprint(key)}) is marked as revoked in ${file}.`)
    if (sameKeys.length > 0) return
    const trusted = known.find(({ isRevoked }) => !isRevoked)
    if (trusted)
      throw createRefusedKeyError(
        `The key of ${name} has changed: the host presents ${computeFingerprint(key)}, and ${file} has ${computeFingerprint(trusted.key)} in line ${trusted.line}. Somebody may be intercepting the connection. If the host was really reinstalled, remove that line.`,
      )
    if (policy === 'strict')
      throw createRefusedKeyError(
        `The key of ${name} (${computeFingerprint(key)}) is not known. Add it to ${file}, for example with ssh-keyscan, or send its fingerprint with the request.`,
      )
  }

  return async ({ host, port, fingerprint, enable_insecure_key: isInsecure }) => {
    if (fingerprint !== undefined)
      return {
        types: undefined,
        verify(key) {
          if (computeFingerprint(key) !== fingerprint)
            throw createRefusedKeyError(
              `${host} presents the key ${computeFingerprint(key)}, and the request requires ${fingerprint}.`,
            )
        },
        onVerified: ignore,
      }
    if (isInsecure) return { types: undefined, verify: () => {}, onVerified: ignore }
    const name = formatHostName(host, port)
    const known = findHostKeys(await readKnownHosts(), name)
    const trusted = known.filter(({ isRevoked }) => !isRevoked)
    let presentedKey: Buffer | undefined
    return {
      // A host has a key of each type, and is asked for one of a known type.
      types: trusted.length > 0 ? [...new Set(trusted.map(({ type }) => type))] : undefined,
      verify(key) {
        checkKnown(name, known, key)
        presentedKey = key
      },
      async onVerified() {
        if (presentedKey && trusted.length === 0) await addKey(name, presentedKey)
      },
    }
  }
}
