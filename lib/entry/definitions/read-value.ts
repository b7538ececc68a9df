import { openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Input } from '#lib/commands/definition.ts'
import { messageOf } from '#lib/errors.ts'
import { readConnection } from '../admin/read-connection.ts'
import { readSecret } from '../admin/read-secret.ts'
import { UsageError } from '../usage-error.ts'
import { getFlag, getInputName } from './inputs.ts'

const readText = (file: string): Promise<string> =>
  file === '-'
    ? text(process.stdin)
    : readFile(file, 'utf8').catch((error: unknown) => {
        throw new UsageError(`${file} cannot be read: ${messageOf(error)}`)
      })

const openBytes = (file: string): Promise<Blob> =>
  openAsBlob(file).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`)
  })

const parseNumber = (input: Input, value: string): number => {
  if (/^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  throw new UsageError(`${getFlag(input)} must be a number, and "${value}" is none.`)
}

const parseJson = (input: Input, value: string): unknown => {
  try {
    return JSON.parse(value)
  } catch (error) {
    throw new UsageError(`${getFlag(input)} must be JSON: ${messageOf(error)}`)
  }
}

/** JSON, or else the text itself. */
const parseValue = (value: string): unknown => {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const parsePairs = (input: Input, values: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    values.map(value => {
      const at = value.indexOf('=')
      if (at < 1) throw new UsageError(`${getFlag(input)} must be NAME=VALUE, and "${value}" is not.`)
      return [value.slice(0, at), value.slice(at + 1)]
    }),
  )

/** Parses `GROUP.OPERATION [VALUE] [OPTION=VALUE …]`. A word without `=` after the value is a flag. */
const parseChange = (input: Input, change: string): object => {
  const [name = '', ...words] = change.trim().split(/\s+/)
  const [group, operation, ...rest] = name.split('.')
  if (!group || !operation || rest.length > 0)
    throw new UsageError(`${getFlag(input)} must begin with GROUP.OPERATION, and "${change}" does not.`)
  const value = words[0] !== undefined && !words[0].includes('=') ? words.shift() : undefined
  const options = words.filter(word => word.includes('='))
  const flags = words.filter(word => !word.includes('='))
  return {
    group,
    operation,
    ...(value !== undefined && { value }),
    ...(options.length > 0 && {
      options: options.map(word => ({
        flag: word.slice(0, word.indexOf('=')),
        value: word.slice(word.indexOf('=') + 1),
      })),
    }),
    ...(flags.length > 0 && { flags }),
  }
}

/**
 * Reads the value of an input.
 * @param given what the command line has: a text, several for an input that is repeated, true for an option without a value
 * @throws UsageError for a text that is no such value
 */
export const readValue = async (input: Input, given: unknown): Promise<unknown> => {
  // Commander collects the texts of an input that can be repeated.
  const texts = (Array.isArray(given) ? given : [given]) as readonly string[]
  const [first = ''] = texts
  switch (input.kind) {
    case 'number':
      return parseNumber(input, first)
    case 'list':
      return texts
    case 'pairs':
      return parsePairs(input, texts)
    case 'json':
      return parseJson(input, await readText(first))
    case 'text-file':
      return readText(first)
    case 'value':
      return parseValue(first)
    case 'secret':
      return readSecret(getInputName(input).replaceAll('-', ' '))
    case 'connection':
      return readConnection(first)
    case 'changes':
      return texts.map(change => parseChange(input, change))
    case 'no':
      return false
    case 'bytes':
      return openBytes(first)
    case undefined:
      return given
  }
}
