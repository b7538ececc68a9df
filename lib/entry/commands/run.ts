import type { Command } from 'commander'
import type { Config } from '#lib/config.ts'
import type { Ask } from '../reach.ts'

/** What a command is called with, beside the service that it asks. */
export interface Invocation {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly config: Config
  /** Whether a service runs; else what needs machines or jobs cannot be done. */
  readonly running: boolean
}

/** Makes a command one that asks the service, which runs or is opened for it. */
export type Run = (command: Command, work: (ask: Ask, invocation: Invocation) => Promise<void>) => void

/** Gathers the values of an option that may be repeated. */
export const list = (value: string, before: readonly string[]): readonly string[] => [...before, value]
