import type { Input } from '#lib/commands/definition.ts'

/** Whether an input is an argument. */
export const isArgument = ({ flag }: Input): boolean => !flag.startsWith('-')

/** Whether a command does nothing without an input. */
export const isRequired = ({ flag, required }: Input): boolean => required === true || flag.startsWith('<')

/** An input as messages name it: without the value of an option. */
export const getFlag = ({ flag }: Input): string => flag.replace(/ .*/, '')

/** The name of an input without its brackets, its dashes and its value: `machine`, `disk-size`. */
export const getInputName = ({ flag }: Input): string => flag.replace(/^--(no-)?|^[<[]/g, '').replace(/[ .>\]].*/, '')
