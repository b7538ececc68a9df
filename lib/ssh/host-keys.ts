import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'
import { keysOf, knownName, type KnownKey } from './known-hosts.ts'
import type { SshRequest } from './schemas.ts'

/** What is asked of the key that a host shows. */
export interface HostCheck {
  /** The kinds of keys that the host may show; undefined for any. */
  readonly types: readonly string[] | undefined
  /** Passes the key, or throws why not. */
  verify(key: Buffer): void
  /** To be called when the host has proved that the key is its own. */
  proved(): Promise<void>
}

export type HostKeys = (
  request: Pick<SshRequest, 'host' | 'port' | 'fingerprint' | 'enable_insecure_key'>,
) => Promise<HostCheck>

interface Options {
  /** In the format of OpenSSH. */
  readonly file: string
  readonly policy: 'accept-new' | 'strict'
}

/** As `ssh-keygen -l` prints it. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** The kind of a key, which its bytes begin with (RFC 4253, 6.6). */
const typeOf = (key: Buffer): string => key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1')

const refused = (message: string): ServiceError => new ServiceError('upstream', message)

const nothing = async (): Promise<void> => {}

export const createHostKeys = ({ file, policy }: Options): HostKeys => {
  const read = async (): Promise<string> =>
    readFile(file, 'utf8').catch((error: unknown) => {
      if (isSystemError(error, 'ENOENT')) return ''
      throw error
    })
  let last: Promise<unknown> = Promise.resolve()
  const add = (name: string, key: Buffer): Promise<void> => {
    const turn = last.then(async () => {
      const text = await read()
      const known = keysOf(text, name)
      if (known.some(one => one.key.equals(key))) return
      // Somebody else was shown another key of the same host, at the same first sight.
      if (known.length > 0)
        throw refused(`${name} showed two different keys at its first sight. Somebody may be in between.`)
      await makePrivateFolder(dirname(file))
      const before = text === '' || text.endsWith('\n') ? text : `${text}\n`
      await writeFileAtomic(file, `${before}${name} ${typeOf(key)} ${key.toString('base64')}\n`)
    })
    last = turn.catch(() => undefined)
    return turn
  }

  const checkKnown = (name: string, known: readonly KnownKey[], key: Buffer): void => {
    const same = known.filter(one => one.key.equals(key))
    if (same.some(({ revoked }) => revoked))
      throw refused(`The key of ${name} (${fingerprintOf(key)}) is marked as revoked in ${file}.`)
    if (same.length > 0) return
    const old = known.find(({ revoked }) => !revoked)
    if (old)
      throw refused(
        `The key of ${name} has changed: it shows ${fingerprintOf(key)}, and ${file} has ${fingerprintOf(old.key)} in line ${old.line}. Somebody may be in between. If the host was really made anew, remove that line.`,
      )
    if (policy === 'strict')
      throw refused(
        `The key of ${name} (${fingerprintOf(key)}) is not known. Add it to ${file}, for example with ssh-keyscan, or send its fingerprint with the request.`,
      )
  }

  return async ({ host, port, fingerprint, enable_insecure_key: insecure }) => {
    if (fingerprint !== undefined)
      return {
        types: undefined,
        verify(key) {
          if (fingerprintOf(key) !== fingerprint)
            throw refused(`${host} shows the key ${fingerprintOf(key)}, and not ${fingerprint} as the request wants.`)
        },
        proved: nothing,
      }
    if (insecure) return { types: undefined, verify: () => {}, proved: nothing }
    const name = knownName(host, port)
    const known = keysOf(await read(), name)
    const kept = known.filter(({ revoked }) => !revoked)
    let shown: Buffer | undefined
    return {
      // A host has a key of each kind; it is asked for one that is known.
      types: kept.length > 0 ? [...new Set(kept.map(({ type }) => type))] : undefined,
      verify(key) {
        checkKnown(name, known, key)
        shown = key
      },
      async proved() {
        if (shown && kept.length === 0) await add(name, shown)
      },
    }
  }
}
