import { ServiceError } from '#lib/errors.ts'
import type { ConfigType } from './schemas.ts'

/** Bytes of a value. */
const longest = 64 * 1024

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const rules: Readonly<Record<ConfigType, readonly [(text: string) => boolean, string]>> = {
  string: [() => true, ''],
  bool: [text => text === 'true' || text === 'false', 'true or false'],
  int: [text => /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)), 'a whole number'],
  json: [isJson, 'JSON'],
}

/** A value as the text that is kept. Throws `invalid` when it does not fit its type, or is too long. */
export const valueText = (type: ConfigType, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (Buffer.byteLength(text) > longest)
    throw new ServiceError('invalid', `The value is longer than the ${longest} bytes that one may have.`)
  const [fits, wanted] = rules[type]
  if (!fits(text)) throw new ServiceError('invalid', `The value of type ${type} must be ${wanted}.`)
  return text
}
