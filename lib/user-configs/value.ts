import { ServiceError } from '#lib/errors.ts'
import type { ConfigType } from './schemas.ts'

/** The most bytes of a value. */
const maxBytes = 64 * 1024

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

/** The text that is stored for a value. Throws `invalid` when the value does not fit its type or is too long. */
export const formatValue = (type: ConfigType, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (Buffer.byteLength(text) > maxBytes)
    throw new ServiceError('invalid', `The value is longer than the ${maxBytes} bytes that one may have.`)
  const [isValid, expectation] = rules[type]
  if (!isValid(text)) throw new ServiceError('invalid', `The value of type ${type} must be ${expectation}.`)
  return text
}
