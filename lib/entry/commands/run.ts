import type { Command } from 'commander'
import type { Config } from '#lib/compose/config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Ask } from '../admin/admin-client.ts'

/** The arguments, options and configuration of one call of a command. */
export interface Invocation {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly config: Config
  /** Whether a service runs. Without one, commands that need machines or jobs fail. */
  readonly running: boolean
}

/** Throws `unavailable` if no service runs. `what` is the beginning of the message: what needs a running service. */
export const requireService = ({ running, config }: Invocation, what: string): void => {
  if (!running)
    throw new ServiceError(
      'unavailable',
      `${what}, and none runs on ${config.state}. Start it with \`vmhost serve\`, then repeat the command.`,
    )
}

/** Registers a command that calls the endpoints, of the running service or in this process. */
export type Run = (command: Command, work: (ask: Ask, invocation: Invocation) => Promise<void>) => void

/** Collects the values of a repeated option. */
export const list = (value: string, before: readonly string[]): readonly string[] => [...before, value]
