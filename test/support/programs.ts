import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The file of a program that is on PATH, or in one of the other folders; undefined when it is not installed. */
export const findProgram = (name: string, others: readonly string[] = []): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), ...others]
    .map(folder => join(folder, name))
    .find(file => existsSync(file))
