import type { Client, ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { HostKeyCheck } from './host-keys.ts'

interface ConnectOptions {
  /** The host as the caller named it. */
  readonly name: string
  readonly hostKeyCheck: HostKeyCheck
  /** Milliseconds. */
  readonly timeLimit: number
  readonly signal: AbortSignal
}

/** Lists the signature algorithms for a type of host key. A key of the type ssh-rsa has three (RFC 8332). */
const listAlgorithms = (type: string): readonly string[] =>
  type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type]

const toConnectError = (name: string, error: Error & { level?: string; code?: string }): ServiceError => {
  if (error.level === 'client-authentication')
    return new ServiceError('upstream', `${name} refused this user's credentials.`)
  if (error.level === 'client-timeout') return connectTimeout(name)
  const why = /host key/i.test(error.message) ? 'it has no host key of a known type' : messageOf(error)
  return new ServiceError('upstream', `${name} could not be reached over SSH: ${why}.`, { cause: error })
}

const connectTimeout = (name: string): ServiceError =>
  new ServiceError('timeout', `${name} did not accept the sign-in in time. It may be down, or not an SSH server.`)

const createCallerGoneError = (): ServiceError => new ServiceError('upstream', 'The caller went away.')

/** Connects and signs in. Throws `upstream` and `timeout`. The caller destroys the client. */
export const connect = async (
  client: Client,
  config: ConnectConfig,
  { name, hostKeyCheck, timeLimit, signal }: ConnectOptions,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let refusal: unknown
  // This listener stays for the life of the client, because an error without a listener ends the process.
  client.on('error', error => reject(refusal ?? toConnectError(name, error)))
  client.once('close', () => reject(refusal ?? toConnectError(name, new Error('it closed the connection'))))
  client.once('ready', () => resolve())
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) =>
    finish(prompts.map(() => config.password ?? '')),
  )
  let storingKey: Promise<void> | undefined
  client.once('handshake', () => {
    storingKey = hostKeyCheck.onVerified()
    // The failure is thrown below, after the sign-in. Until then nobody listens to it.
    storingKey.catch(() => undefined)
  })
  signal.addEventListener('abort', () => reject(createCallerGoneError()), { once: true })
  const timer = setTimeout(() => reject(connectTimeout(name)), timeLimit)
  promise.catch(() => undefined)
  // The file known_hosts can hold any text here. ssh2 refuses what it does not support.
  const algorithms = hostKeyCheck.types?.flatMap(listAlgorithms) as ServerHostKeyAlgorithm[] | undefined
  try {
    // A signal that was aborted earlier does not call the listener.
    if (signal.aborted) throw createCallerGoneError()
    client.connect({
      ...config,
      readyTimeout: 0,
      ...(algorithms && { algorithms: { serverHostKey: algorithms } }),
      hostVerifier(key: Buffer) {
        try {
          hostKeyCheck.verify(key)
          return true
        } catch (error) {
          refusal = error
          return false
        }
      },
    })
    await promise
    await storingKey
  } finally {
    clearTimeout(timer)
  }
}
