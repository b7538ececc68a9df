import { createHmac } from 'node:crypto'

export interface SharedKey {
  readonly account: string
  /** In base64. */
  readonly key: string
}

interface UnsignedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of the body. */
  readonly size: number
}

/** The headers whose values are signed, in this order. */
const signedHeaders = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
]

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)

/** The string to sign: https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key. */
const createStringToSign = (account: string, { method, url, headers, size }: UnsignedRequest): string => {
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]))
  // An empty body counts as no length.
  values.set('content-length', size > 0 ? String(size) : '')
  const canonicalizedHeaders = [...values].filter(([name]) => name.startsWith('x-ms-')).toSorted(byName)
  const query = [...url.searchParams].map(([name, value]) => [name.toLowerCase(), value] as const).toSorted(byName)
  return [
    method,
    ...signedHeaders.map(name => values.get(name) ?? ''),
    ...canonicalizedHeaders.map(([name, value]) => `${name}:${value}`),
    `/${account}${url.pathname}`,
    ...query.map(([name, value]) => `${name}:${value}`),
  ].join('\n')
}

/** Gives the Authorization header of a request. The request must have the headers x-ms-date and x-ms-version. */
export const createAuthorization = ({ account, key }: SharedKey, request: UnsignedRequest): string => {
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(createStringToSign(account, request))
  return `SharedKey ${account}:${signature.digest('base64')}`
}
