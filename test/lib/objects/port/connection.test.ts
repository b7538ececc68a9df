import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  redactConnection,
  type Connection,
  maskStorage,
  parseConnection,
  formatConnection,
} from '#lib/objects/port/connection.ts'
import { isFault } from '#lib/errors.ts'

const minio = 'provider=minio;endpoint=10.0.0.5:9000;bucket=packs;access_key=minioadmin;secret_key=s3cr3t-s3cr3t'

describe('a connection string', () => {
  test('names a storage with all its keys', () => {
    expect(parseConnection(`${minio};use_ssl=true`)).toEqual({
      storage: {
        type: 'minio',
        meta: {
          endpoint: '10.0.0.5:9000',
          bucket: 'packs',
          access_key: 'minioadmin',
          secret_key: 's3cr3t-s3cr3t',
          use_ssl: 'true',
        },
      },
    })
  })

  test.each([
    ['host=admin:p@ss:w0rd@http://10.1.2.3:3080', { username: 'admin', password: 'p@ss:w0rd' }, 'http://10.1.2.3:3080'],
    ['host=http://admin:p@ss:w0rd@10.1.2.3:3080', { username: 'admin', password: 'p@ss:w0rd' }, 'http://10.1.2.3:3080'],
    ['host=HTTPS://u:p@c.example;port=8443', { username: 'u', password: 'p' }, 'https://c.example:8443'],
    ['host=https://a-key@c.example', { apiKey: 'a-key' }, 'https://c.example'],
    ['host=https://u:p@http://c.example', { username: 'https', password: '//u:p' }, 'http://c.example'],
    ['host=a2V5OnNlY3JldA==@https://catalog.example', { apiKey: 'a2V5OnNlY3JldA==' }, 'https://catalog.example'],
    [
      'host=catalog.example;port=8080;username=a;password=b=c',
      { username: 'a', password: 'b=c' },
      'http://catalog.example:8080',
    ],
    [' HOST = catalog.example ; Api_Key = k ', { apiKey: 'k' }, 'http://catalog.example'],
    ['host=u:p@https://[2001:db8::1]:8443', { username: 'u', password: 'p' }, 'https://[2001:db8::1]:8443'],
  ])('names the service of a catalog: %s', (text, credentials, url) => {
    expect(parseConnection(text)).toEqual({ service: { url, ...credentials } })
  })

  test('names a service and a storage; credentials beside a host with credentials belong to the storage', () => {
    const text = 'provider=artifactory;host=u:p@https://c.example;url=https://a.example;repo=r;username=x;password=y'
    expect(parseConnection(text)).toEqual({
      service: { url: 'https://c.example', username: 'u', password: 'p' },
      storage: { type: 'artifactory', meta: { url: 'https://a.example', repo: 'r', username: 'x', password: 'y' } },
    })
  })

  test.each([
    ['local', 'local-storage'],
    ['S3;bucket=b;region=r;use_environment_authentication=true', 'aws-s3'],
    ['azurestorageprovider;storage_account_name=a;container_name=c;storage_account_key=k', 'azure-storage-account'],
    ['oci;registry=r.example;repository=vm/images', 'oci'],
  ])('accepts the names that clients use for a provider: %s', (text, type) => {
    expect(parseConnection(`provider=${text}`).storage?.type).toBe(type)
  })

  test.each([
    ['', 'no provider and no host'],
    ['provider=ftp;secret_key=TOPSECRET', 'choose one of local-storage'],
    ['provider=minio;bucket=b;endpoint=e;access_key=TOPSECRET', 'needs secret_key'],
    ['provider=aws-s3;region=r;access_key=TOPSECRET;secret_key=TOPSECRET', 'needs bucket'],
    ['provider=artifactory;url=https://a.example;repo=r;username=TOPSECRET', 'needs a password'],
    ['provider=artifactory;url=u;repo=r;access_key=TOPSECRET;username=a;password=b', 'not both'],
    ['provider=minio;TOPSECRET', 'key=value'],
    ['provider=minio;bucket=TOPSECRET;bucket=b', 'bucket twice'],
    ['host=u:TOPSECRET@ftp://catalog.example', 'http or https'],
    ['host=ftp://u:TOPSECRET@catalog.example', 'http or https'],
    ['host=https://u:TOPSECRET@catalog.example/path', 'has no path'],
    ['host=https://u:TOPSECRET@', 'not an address'],
    ['host=u:TOPSECRET@http://catalog.example/path', 'has no path'],
    ['host=u:TOPSECRET@http://', 'not an address'],
    ['host=c.example;port=99999', 'up to 65535'],
    ['host=c.example;bucket=TOPSECRET', 'without a provider'],
    [`provider=local;catalog_path=${'x'.repeat(9_000)}`, 'more than 8192'],
    ['provider=local;catalog_path=a\nb', 'control characters'],
  ])('is refused when it is invalid, without naming a value: %s', (text, reason) => {
    const error = (() => {
      try {
        return parseConnection(text)
      } catch (thrown) {
        return thrown
      }
    })()
    expect(isFault(error, 'invalid')).toBe(true)
    expect((error as Error).message).toContain(reason)
    expect((error as Error).message).not.toContain('TOPSECRET')
  })

  const value = fc
    .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
    .map(text => text.trim())
    .filter(text => text !== '' && !/[;\p{Cc}]/u.test(text))
  const word = value.filter(text => !text.includes(':'))
  const service = fc
    .record({
      url: fc.constantFrom('https://c.example', 'http://10.0.0.1:3080', 'https://[2001:db8::1]:8443'),
      credentials: fc.oneof(
        fc.record({ username: value, password: value }),
        fc.record({ apiKey: word }),
        fc.constant({}),
      ),
    })
    .map(({ url, credentials }) => ({ url, ...credentials }))
  const storage = fc
    .record({ bucket: value, endpoint: value, access_key: value, secret_key: value, other: value })
    .map(meta => ({ type: 'minio' as const, meta }))
  const connections: fc.Arbitrary<Connection> = fc.oneof(
    fc.record({ service }),
    fc.record({ storage }),
    fc.record({ service, storage }),
  )

  test('is formatted so that it parses to the same connection', () => {
    fc.assert(
      fc.property(connections, connection => {
        const text = formatConnection(connection)
        if (text.length <= 8_192) expect(parseConnection(text)).toEqual(connection)
      }),
      { numRuns: 1_000 },
    )
  })

  test('parses any text or refuses it, and formatting keeps the connection', () => {
    const key = fc.constantFrom('provider', 'host', 'username', 'password', 'api_key', 'bucket', 'port', 'x')
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.tuple(key, fc.oneof(value, fc.constantFrom('minio', 'local', 'c.example', 'u:p@c.example'))))
        .map(pairs => pairs.map(pair => pair.join('=')).join(';')),
    )
    fc.assert(
      fc.property(texts, text => {
        let read: Connection
        try {
          read = parseConnection(text)
        } catch (error) {
          return isFault(error, 'invalid')
        }
        expect(parseConnection(formatConnection(read))).toEqual(read)
        return true
      }),
      { numRuns: 5_000 },
    )
  })

  test('is masked without its secrets', () => {
    const shown = maskStorage(parseConnection(`${minio};token=abcd`).storage!)
    expect(shown.meta).toEqual({
      endpoint: '10.0.0.5:9000',
      bucket: 'packs',
      access_key: 'mi****in',
      secret_key: 's3****3t',
      token: '****',
    })
  })
})

describe('a redacted connection', () => {
  test.for([
    ['provider=local', 'provider=local-storage'],
    ['host=me:very-secret@Catalog.example:8080', 'host=http://catalog.example:8080'],
    ['host=https://me:very-secret@Catalog.example:8080', 'host=https://catalog.example:8080'],
    [
      'host=very-secret@catalog.example;provider=s3;bucket=b;region=r;access_key=very-secret;secret_key=very-secret',
      'provider=aws-s3;host=http://catalog.example;bucket=b;region=r',
    ],
    ['provider=nothing;password=very-secret', undefined],
  ] as const)('%s has no credentials', ([text, place]) => expect(redactConnection(text)).toBe(place))
})
