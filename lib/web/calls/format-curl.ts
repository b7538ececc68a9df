import { findRow, type OperationCall } from '../state/calls.ts'
import { formatPath, quote } from './format-path.ts'

/** The same call with curl. The token is in a variable, so that it is in no history. */
export const formatCurl = (call: OperationCall): string => {
  const { method } = findRow(call.operation)
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    '-H "Authorization: Bearer $TOKEN"',
    ...(call.async ? ["-H 'Prefer: respond-async'"] : []),
    ...(call.body === undefined ? [] : ["-H 'Content-Type: application/json'", '-d', quote(JSON.stringify(call.body))]),
    quote(location.origin + formatPath(call)),
  ]
  return parts.join(' ')
}
