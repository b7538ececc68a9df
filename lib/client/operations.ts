import type { Api } from './api.gen.ts'
import { resumeDownload } from './download.ts'
import { expectSuccess } from './error.ts'
import type { Send } from './send.ts'
import { readTable, type Row } from './table.ts'
import type { AsJob, ChangeOptions, FilterOptions, IfMatchOptions, SendRequest, WaitOptions } from './types.ts'

type Parameters = Readonly<Record<string, string | undefined>>
type Query = SendRequest['query']

/** What any operation takes; the generated types say which of it each one does. */
type OperationRequest = ChangeOptions &
  FilterOptions &
  IfMatchOptions &
  WaitOptions &
  Partial<Pick<AsJob, 'async'>> & { readonly params?: Parameters; readonly query?: Query; readonly body?: unknown }

/** Calls one operation. */
type Operation = (request?: OperationRequest) => Promise<unknown>

/** Opens a WebSocket at a path. */
export type OpenSocket = (path: string, query: Query) => Promise<WebSocket>

/** Fills the parameters into a path. Throws for values that would lead to another path. */
const fillPath = (path: string, params: Parameters = {}): string =>
  path.replace(/\/\{(\w+)(\??)\}/g, (_, name: string, optional: string) => {
    const { [name]: value = '' } = params
    if (optional && params[name] === undefined) return ''
    if (/^\.{0,2}$/.test(value))
      throw new TypeError(`params.${name} is missing or not usable: The names . and .. are not possible.`)
    return `/${encodeURIComponent(value)}`
  })

const isBytes = (body: unknown): body is NonNullable<SendRequest['body']> =>
  body instanceof ReadableStream || body instanceof Blob || body instanceof Uint8Array

const headersOf = ({ headers, async: asJob, wait, filter, ifMatch, body }: OperationRequest): Headers => {
  const sent = new Headers(headers)
  if (asJob) sent.append('Prefer', 'respond-async')
  if (wait !== undefined) sent.append('Prefer', `wait=${wait}`)
  if (filter !== undefined) sent.set('X-Filter', filter)
  if (ifMatch !== undefined) sent.set('If-Match', ifMatch)
  if (body !== undefined && !isBytes(body)) sent.set('Content-Type', 'application/json')
  return sent
}

const createOperation =
  ({ method, path: template }: Row, send: Send, openSocket: OpenSocket): Operation =>
  async (request = {}) => {
    const { params, query, body, signal, idempotencyKey, onResponse } = request
    const path = fillPath(template, params)
    if (method === 'SOCKET') return openSocket(path, query)
    const sent = {
      method,
      path,
      query,
      headers: headersOf(request),
      body: isBytes(body) ? body : JSON.stringify(body),
      signal,
      idempotencyKey,
    }
    const response = await expectSuccess(send(sent))
    onResponse?.(response)
    const type = response.headers.get('Content-Type') ?? ''
    if (type.includes('json')) return response.json()
    if (type.includes('plain')) return response.text()
    return type.includes('octet') ? resumeDownload(response, send, sent) : response.body
  }

/** The table, which is the same for all clients; it is read for the first of them. */
let rows: readonly Row[] | undefined

/** Makes the operations of all areas. */
export const createApi = (send: Send, openSocket: OpenSocket): Api => {
  const api: Record<string, Record<string, Operation>> = {}
  for (const row of (rows ??= readTable())) (api[row.area] ??= {})[row.name] = createOperation(row, send, openSocket)
  // The table and the types are generated from the same contracts.
  return api as unknown as Api
}
