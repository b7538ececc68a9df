import type { Command, OptionValues } from 'commander'
import type { Config } from '#lib/compose/config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ApiClient } from '../admin/admin-client.ts'

/** The values of options that have a text, or none. */
export type TextOptions = Readonly<Record<string, string | undefined>>

/** The arguments, options and configuration of one call of a command. */
export interface Invocation<Options = Readonly<Record<string, unknown>>> {
  readonly args: readonly string[]
  readonly options: Options
  readonly config: Config
  /** Whether a service runs. Without one, commands that need machines or jobs fail. */
  readonly isRunning: boolean
}

/** Throws `unavailable` if no service runs. `subject` begins the message, for example `Jobs need a running service`. */
export const requireService = (
  { isRunning: running, config }: Pick<Invocation, 'isRunning' | 'config'>,
  subject: string,
): void => {
  if (!running)
    throw new ServiceError(
      'unavailable',
      `${subject}, and none runs on ${config.state}. Start it with \`vmhost serve\`, then repeat the command.`,
    )
}

/**
 * Registers a command that calls the endpoints, of the running service or in this process. Whoever declares the options of
 * `command` names their types.
 */
export type RegisterCommand = <Options extends OptionValues = Readonly<Record<string, unknown>>>(
  command: Command,
  work: CommandWork<Options>,
) => void

/** Registers a command that needs the configuration and no client of the endpoints. */
export type RegisterLocalCommand = (
  command: Command,
  work: (config: Config, args: readonly string[]) => Promise<void>,
) => void

/** What a command does when it is called. */
export type CommandWork<Options> = (callApi: ApiClient, invocation: Invocation<Options>) => Promise<void>

/** Collects the values of a repeated option. */
export const collectValues = (value: string, previous: readonly string[]): readonly string[] => [...previous, value]
