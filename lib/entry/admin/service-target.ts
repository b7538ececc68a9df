import type { ConnectionOptions } from 'node:tls'
import type { Config } from '#lib/compose/config.ts'
import { getSocketPath } from '#lib/compose/state.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'

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
