import type { Command } from 'commander'
import type { Config } from '#lib/config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Ask } from '../reach.ts'

/** What a command is called with, beside the service that it asks. */
export interface Invocation {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly config: Config
  /** Whether a service runs; else what needs machines or jobs cannot be done. */
  readonly running: boolean
}

/** @param what is done through the service, as a sentence begins with it. Throws `unavailable` when none runs */
export const requireService = ({ running, config }: Invocation, what: string): void => {
  if (!running)
    throw new ServiceError(
      'unavailable',
      `${what}, and none runs on ${config.state}. Start it with \`vmhost serve\`, then do this again.`,
    )
}

/** Makes a command one that asks the service, which runs or is opened for it. */
export type Run = (command: Command, work: (ask: Ask, invocation: Invocation) => Promise<void>) => void

/** Gathers the values of an option that may be repeated. */
export const list = (value: string, before: readonly string[]): readonly string[] => [...before, value]
