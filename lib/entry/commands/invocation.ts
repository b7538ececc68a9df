import type { Command, OptionValues } from 'commander'
import type { Config } from '#lib/compose/config.ts'
import type { Service } from '../connect/service.ts'

/** The values of options that have a text, or none. */
export type TextOptions = Readonly<Record<string, string | undefined>>

/** The arguments and options of one call of a command. */
export interface Invocation<Options = Readonly<Record<string, unknown>>> {
  readonly args: readonly string[]
  readonly options: Options
}

/** Registers a command that calls a service. Whoever declares the options of `command` names their types. */
export type RegisterCommand = <Options extends OptionValues = Readonly<Record<string, unknown>>>(
  command: Command,
  work: CommandWork<Options>,
) => void

/** Registers a command that needs the configuration and no service. */
export type RegisterLocalCommand = (
  command: Command,
  work: (config: Config, args: readonly string[]) => Promise<void>,
) => void

/** What a command does when it is called. */
export type CommandWork<Options> = (service: Service, invocation: Invocation<Options>) => Promise<void>

/** Collects the values of a repeated option. */
export const collectValues = (value: string, previous: readonly string[]): readonly string[] => [...previous, value]
