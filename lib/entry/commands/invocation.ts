import type { Command } from 'commander'
import type { Config } from '#lib/compose/config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ApiClient } from '../admin/admin-client.ts'

/** The arguments, options and configuration of one call of a command. */
export interface Invocation {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly config: Config
  /** Whether a service runs. Without one, commands that need machines or jobs fail. */
  readonly isRunning: boolean
}

/** Throws `unavailable` if no service runs. `subject` begins the message, for example `Jobs need a running service`. */
export const requireService = ({ isRunning: running, config }: Invocation, subject: string): void => {
  if (!running)
    throw new ServiceError(
      'unavailable',
      `${subject}, and none runs on ${config.state}. Start it with \`vmhost serve\`, then repeat the command.`,
    )
}

/** Registers a command that calls the endpoints, of the running service or in this process. */
export type RegisterCommand = (
  command: Command,
  work: (callApi: ApiClient, invocation: Invocation) => Promise<void>,
) => void

/** Collects the values of a repeated option. */
export const collectValues = (value: string, previous: readonly string[]): readonly string[] => [...previous, value]
