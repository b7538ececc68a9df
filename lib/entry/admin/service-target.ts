import type { ConnectionOptions } from 'node:tls'
import type { Config } from '#lib/compose/config.ts'
import { getSocketPath } from '#lib/compose/state.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { parseConnection } from '#lib/objects/port/connection.ts'
import { toRefusal } from './refusal.ts'

/** A service, and how this process reaches it. */
export interface ServiceTarget {
  /** Begins messages about it. */
  readonly name: string
  /** Scheme, host and port. */
  readonly url: string
  /** Credentials for each request. */
  readonly headers: Readonly<Record<string, string>>
  /** The UNIX socket of it, if the URL alone does not lead there. */
  readonly socketPath?: string
  /** How TLS knows it, if no authority has signed its certificate. */
  readonly tls?: ConnectionOptions
  /** What to do if it cannot be reached. */
  readonly hint: string
}

/** The error of a service that cannot be reached. `reason` is what was thrown. */
export const createUnreachableError = ({ name, hint }: ServiceTarget, reason: unknown): ServiceError =>
  new ServiceError('unavailable', `${name} cannot be reached: ${messageOf(reason)}. ${hint}`)

/** Returns the service of a state folder. Over its socket every request is one of root. */
export const getLocalTarget = (config: Config): ServiceTarget => ({
  name: `The service on ${config.state}`,
  url: 'http://localhost',
  headers: {},
  socketPath: getSocketPath(config),
  hint: 'Start it with `vmhost serve`, or sign in to another one with `vmhost login`.',
})

const getRemoteTarget = (url: string): ServiceTarget => ({
  name: url,
  url,
  headers: {},
  hint: 'A certificate that no authority has signed must be in the file that NODE_EXTRA_CA_CERTS names.',
})

/** Signs in and returns the token. Throws the refusal of the service. */
const signIn = async (target: ServiceTarget, credentials: object): Promise<string> => {
  const response = await fetch(`${target.url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
    redirect: 'manual',
  }).catch((error: unknown) => {
    // The reason of `fetch` is in its cause.
    throw createUnreachableError(target, error instanceof Error ? (error.cause ?? error) : error)
  })
  const body = await response.text()
  if (response.status !== 200) throw toRefusal(response.status, body)
  // The contract of the sign-in says so.
  return (JSON.parse(body) as { readonly token: string }).token
}

/**
 * Returns the service that a connection names (`host=USER:PASSWORD@https://…` or `host=API-KEY@https://…`); without a connection, that
 * of the state folder. Throws `invalid` for a connection that names none, and the refusal of the sign-in.
 */
export const findServiceTarget = async (config: Config, connection: string | undefined): Promise<ServiceTarget> => {
  if (connection === undefined) return getLocalTarget(config)
  const { service } = parseConnection(connection)
  if (!service)
    throw new ServiceError('invalid', 'The connection names no service; it needs host=USER:PASSWORD@https://HOST:PORT.')
  const { url, username, password, apiKey } = service
  const target = getRemoteTarget(url)
  if (apiKey !== undefined) return { ...target, headers: { 'x-api-key': apiKey } }
  return { ...target, headers: { authorization: `Bearer ${await signIn(target, { email: username, password })}` } }
}
