import type { OperationCall } from '../state/calls.ts'

const formatValue = (value: unknown): string =>
  JSON.stringify(value, undefined, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/"(\w+)":/g, '$1:')

/** The same call with the typed client, in TypeScript. */
export const formatClient = ({ operation, ...request }: OperationCall): string => {
  const given = Object.entries(request).filter(([, value]) => value !== undefined)
  return `await client.api.${operation}(${given.length > 0 ? formatValue(Object.fromEntries(given)) : ''})`
}
