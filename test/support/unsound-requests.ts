/** What of a sound request is changed; the rest is as the endpoint wants it. */
interface Change {
  readonly method?: string
  /** Takes the place of each parameter of the path. */
  readonly parameter?: string
  /** Comes after the path as it is. */
  readonly query?: string
  readonly headers?: readonly string[]
  /** One byte a character; its length is sent where `headers` says nothing of it. */
  readonly body?: string
  /** What HTTP itself has for that, beside the statuses of the endpoint. */
  readonly also?: readonly number[]
}

const json = 'Content-Type: application/json'
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const chunked = 'Transfer-Encoding: chunked'
const nested = (n: number): string => `${'['.repeat(n)}${']'.repeat(n)}`
const boundary = 'Content-Type: multipart/form-data; boundary=b'
const part = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nvalue\r\n'

/** Bodies that are no sound JSON object, by what is wrong with them. */
const bodies: Readonly<Record<string, string>> = {
  'a body of white space': ' \r\n\t',
  'an empty object': '{}',
  'an empty list': '[]',
  'a null': 'null',
  'a text': '"text"',
  'a number that is infinite': '{"a":1e999}',
  'a broken object': '{"a":',
  'two objects': '{}{}',
  'a byte order mark': '\xEF\xBB\xBF{}',
  'bytes that are no UTF-8': '{"name":"\xFF\xFE\xC0\x80"}',
  'half of a surrogate pair': '{"name":"\\ud800"}',
  'a zero byte': '{"name":"a\\u0000b"}',
  'the names of prototypes': '{"__proto__":{"a":1},"constructor":{"prototype":{}},"toString":1}',
  'the same name twice': '{"name":"a","name":["b"]}',
  'lists in each other': `{"name":${nested(20_000)}}`,
  'objects in each other': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'many members': `{${Array.from({ length: 5_000 }, (_, n) => `"m${n}":${n}`).join()}}`,
  'a long name': `{"${'n'.repeat(60_000)}":1}`,
  'a long text': `{"name":"${'v'.repeat(60_000)}"}`,
}

/** Types of body that it is not. */
const types: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'XML by its type': ['Content-Type: application/xml', '<a/>'],
  'no type at all': ['Content-Type:', '{}'],
  'two types': [`${json}\r\nContent-Type: text/plain`, '{}'],
  'a type that is none': ['Content-Type: /\xE9;;;=', '{}'],
  'a form with broken escapes': ['Content-Type: application/x-www-form-urlencoded', '%=%zz&&=&name=%ff'],
  'a form of parts without a boundary': ['Content-Type: multipart/form-data', part],
  'a form of parts that does not end': [boundary, part],
  'a form of parts with a file': [boundary, `${part.replace('name="name"', 'name="name"; filename="f"')}--b--\r\n`],
  'a body in a coding': [`${json}\r\nContent-Encoding: gzip`, '\x1F\x8B\x08\x00'],
}

const parameters: Readonly<Record<string, string>> = {
  'a percent sign': '%',
  'an escape that is none': '%zz',
  'an escaped zero byte': '%00',
  'escapes that are no UTF-8': '%ff%fe%c0%80',
  'an escaped line end': '%0d%0aX-Injected:%201',
  'escaped dots': '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  'an escape of an escape': '%252e%252e%252f',
  'the name of a prototype': '__proto__',
  'a space': '%20',
  'characters of many bytes': '%F0%9F%92%A9%E2%80%AE',
  'bytes that are not escaped': '\xC3\xA9\xFF',
  'ten thousand characters': 'x'.repeat(10_000),
}

const queries: Readonly<Record<string, string>> = {
  'a query of broken escapes': '?%=%zz&%00=%ff&&&==&?',
  'a query that names prototypes': '?__proto__=1&constructor=1&toString=1',
  'a query with everything twice': '?force=true&force=maybe&limit=1&limit=-1&since=a&since=b&content=pack&content=1',
  'a query of bad values':
    '?force=2&limit=1e9&since=%00&types=,,%ff&dry_run=&linked=0x1&content=%2e%2e&sha256=z&job=%27',
  'a long query': `?${'q'.repeat(12_000)}`,
  'a fragment': '#fragment?query',
}

const headers: Readonly<Record<string, readonly string[]>> = {
  'a range': ['Range: bytes=0-0,5-6'],
  'a range that ends before it begins': ['Range: bytes=9-1'],
  'a range of nothing': ['Range: bytes=-0, bytes=x-y'],
  'two ranges': ['Range: bytes=0-0', 'Range: lines=1-2'],
  'a condition for any': ['If-None-Match: *'],
  'conditions that are none': ['If-Match: "', 'If-None-Match: W/W/"a,"', 'If-Range: x', 'If-Modified-Since: never'],
  'two conditions': ['If-Match: "a"', 'If-Match: "b"', 'If-None-Match: "a"', 'If-None-Match: "b"'],
  'a filter that is none': ['X-Filter: =='],
  'a pattern that is none': ['X-Filter: name=(((['],
  'two filters': ['X-Filter: name=a', 'X-Filter: name=b'],
  'preferences that are none': ['Prefer: wait=99999999999999999999, respond-async=";,', 'Prefer: =;=,'],
  'an empty key': ['Idempotency-Key:'],
  'a key of bytes': ['Idempotency-Key: \xE9\xFF'],
  'two keys': ['Idempotency-Key: a', 'Idempotency-Key: b'],
  'another credential': ['Authorization: Bearer a.b.c'],
  'another credential twice': ['Authorization: Basic a', 'Authorization: Bearer b'],
  'the same key again': ['X-Api-Key: eDp5'],
  'an origin that is none': ['Origin: null', 'Sec-Fetch-Site: cross-site'],
  'a prefetch': ['Sec-Purpose: prefetch;prerender'],
  'types that nobody has': ['Accept: image/png;q=1, */*;q=0', 'Accept-Encoding: *;q=0', 'Accept-Charset: x'],
  'an upgrade to another protocol': ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  'bytes and controls': ['X-Forwarded-For: \xFF, \t, ,,', 'Last-Event-ID: \xFF', 'Cookie: =;='],
  'the names of prototypes': ['__proto__: 1', 'constructor: 2', 'toString: 3'],
  'many headers': Array.from({ length: 500 }, (_, n) => `X-${n}: ${n}`),
}

type Changes = readonly (readonly [name: string, change: Change])[]

const named = <T>(table: Readonly<Record<string, T>>, change: (value: T) => Change): Changes =>
  Object.entries(table).map(([name, value]) => [name, change(value)] as const)

/** For endpoints that read a body. */
export const bodyChanges: Changes = [
  ...named(bodies, body => ({ body, headers: [json] })),
  ...named(types, ([type, body]) => ({ headers: [type], body })),
]

/** For endpoints with a parameter in their path. */
export const parameterChanges: Changes = named(parameters, parameter => ({ parameter, also: [404, 431] }))

/** For every endpoint. */
export const changes: Changes = [
  ...named(queries, query => ({ query })),
  ...named(headers, lines => ({ headers: lines, also: [401] })),
  ['a WebSocket', { headers: [...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], also: [101] }],
  ['a WebSocket without a key', { headers: upgrade }],
  ['a body that waits to be asked for', { headers: ['Expect: 100-continue', json], body: '{}' }],
  ['an expectation that nobody meets', { headers: ['Expect: more'], also: [417] }],
  ['chunks', { headers: [chunked, json], body: '1\r\n{\r\n1;x=y\r\n}\r\n0\r\nX-Trailer: 1\r\n\r\n' }],
  ['a chunk that is longer than it says', { headers: [chunked], body: '1\r\n{}\r\n0\r\n\r\n' }],
  ['a chunk of no length', { headers: [chunked], body: 'zz\r\n{}\r\n0\r\n\r\n' }],
  ['a chunk that is endless', { headers: [chunked], body: 'fffffffffffffffff\r\n{}\r\n' }],
  ['chunks and a length', { headers: [chunked, 'Content-Length: 2'], body: '{}' }],
  ['another transfer coding', { headers: ['Transfer-Encoding: gzip'], body: '{}', also: [501] }],
  ['two lengths', { headers: ['Content-Length: 2', 'Content-Length: 3'], body: '{}' }],
  ['a length that is none', { headers: ['Content-Length: -2'], body: '{}' }],
  ['more than it says', { headers: ['Content-Length: 1', json], body: '{}\r\n\r\n' }],
  ['two hosts', { headers: ['Host: y'] }],
]
