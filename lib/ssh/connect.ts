import type { Client, ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { HostCheck } from './host-keys.ts'

interface How {
  /** The host as the caller named it. */
  readonly name: string
  readonly check: HostCheck
  /** Milliseconds. */
  readonly limit: number
  readonly signal: AbortSignal
}

/** The signatures that a kind of host key can make; a key of kind ssh-rsa makes three (RFC 8332). */
const algorithmsOf = (type: string): readonly string[] =>
  type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type]

const failure = (name: string, error: Error & { level?: string; code?: string }): ServiceError => {
  if (error.level === 'client-authentication')
    return new ServiceError('upstream', `${name} refused this user's credentials.`)
  if (error.level === 'client-timeout') return late(name)
  const why = /host key/i.test(error.message) ? 'it has no key of a kind that is known of it' : messageOf(error)
  return new ServiceError('upstream', `${name} could not be reached over SSH: ${why}.`, { cause: error })
}

const late = (name: string): ServiceError =>
  new ServiceError('timeout', `${name} did not let us in in time. It may be down, or not an SSH server.`)

const gone = (): ServiceError => new ServiceError('upstream', 'The caller went away.')

/** Connects and signs in. Throws `upstream` and `timeout`; whoever calls destroys the client. */
export const connect = async (client: Client, config: ConnectConfig, how: How): Promise<void> => {
  const { name, check, limit, signal } = how
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let refusal: unknown
  // Stays on for the client's life: an error that nobody hears ends the process.
  client.on('error', error => reject(refusal ?? failure(name, error)))
  client.once('close', () => reject(refusal ?? failure(name, new Error('it closed the connection'))))
  client.once('ready', () => resolve())
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) =>
    finish(prompts.map(() => config.password ?? '')),
  )
  let proved: Promise<void> | undefined
  client.once('handshake', () => {
    proved = check.proved()
    // Looked at below, when sign-in is over; until then nobody may be listening yet.
    proved.catch(() => undefined)
  })
  signal.addEventListener('abort', () => reject(gone()), { once: true })
  const timer = setTimeout(() => reject(late(name)), limit)
  promise.catch(() => undefined)
  const types = check.types?.flatMap(algorithmsOf) as ServerHostKeyAlgorithm[] | undefined
  try {
    // An abort before this is not told again.
    if (signal.aborted) throw gone()
    client.connect({
      ...config,
      readyTimeout: 0,
      ...(types && { algorithms: { serverHostKey: types } }),
      hostVerifier(key: Buffer) {
        try {
          check.verify(key)
          return true
        } catch (error) {
          refusal = error
          return false
        }
      },
    })
    await promise
    await proved
  } finally {
    clearTimeout(timer)
  }
}
