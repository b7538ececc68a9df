import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '#lib/compose/config.ts'
import { settings } from '#lib/compose/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'vmhost-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (text: string): string => {
  const path = join(folder, `${crypto.randomUUID()}.toml`)
  writeFileSync(path, text)
  return path
}
const read = (toml: string, environment: Record<string, string> = {}, flags: Record<string, string> = {}) =>
  readConfig({ flags, environment, files: [join(folder, 'missing.toml'), file(toml)] })

describe('the configuration', () => {
  test('takes flags over environment over file over defaults', () => {
    const toml = 'stop_timeout = 10\nlog = "debug"\ndriver = "embedded"\n'
    const environment = { VMHOST_STOP_TIMEOUT: '20', VMHOST_LOG: 'error', OTHER: 'x' }
    expect(read(toml, environment, { stop_timeout: '30' })).toMatchObject({
      stop_timeout: 30,
      log: 'error',
      driver: 'embedded',
      demo: 'on',
    })
  })

  test('an empty variable counts as unset', () => {
    expect(read('log = "debug"', { VMHOST_LOG: '' }).log).toBe('debug')
  })

  test('a list is a list in the file and a text with commas elsewhere', () => {
    expect(read('routes_exclude = ["a", "b"]').routes_exclude).toEqual(['a', 'b'])
    expect(read('', { VMHOST_ROUTES_EXCLUDE: ' a, b ,' }).routes_exclude).toEqual(['a', 'b'])
  })

  test('the configured file is the one that is read', () => {
    const named = file('log = "warning"')
    expect(read('log = "debug"', { VMHOST_CONFIG: named }).log).toBe('warning')
    expect(read('log = "debug"', { VMHOST_CONFIG: named }, { config: file('log = "error"') }).log).toBe('error')
  })

  test('an unknown key is refused with the most similar setting, in one short line', () => {
    expect(() => read('', { VMHOST_LISTN: 'x' })).toThrow(
      /^VMHOST_LISTN is not a setting; did you mean listen\? vmhost serve --help shows the settings$/,
    )
    expect(() => read('stop_timout = 1')).toThrow('did you mean stop_timeout?')
    expect(() => read('', { VMHOST_SERVICE: '1' })).toThrow(/^VMHOST_SERVICE is not a setting; vmhost serve --help/)
  })

  test('the variables that Kubernetes sets for a Service called vmhost are not settings', () => {
    const environment = {
      VMHOST_SERVICE_HOST: '10.96.0.7',
      VMHOST_SERVICE_PORT: '8443',
      VMHOST_SERVICE_PORT_HTTPS: '8443',
      VMHOST_PORT: 'tcp://10.96.0.7:8443',
      VMHOST_PORT_8443_TCP: 'tcp://10.96.0.7:8443',
      VMHOST_PORT_8443_TCP_PROTO: 'tcp',
      VMHOST_PORT_8443_TCP_PORT: '8443',
      VMHOST_PORT_8443_TCP_ADDR: '10.96.0.7',
      VMHOST_LOG: 'error',
    }
    const { file: _one, ...beside } = read('', environment)
    const { file: _other, ...alone } = read('', { VMHOST_LOG: 'error' })
    expect(beside).toEqual(alone)
    expect(() => read('', { VMHOST_SERVICE_HOSTS: 'x' })).toThrow('VMHOST_SERVICE_HOSTS')
    expect(() => read('', { VMHOST_PORTS: 'x' })).toThrow('VMHOST_PORTS')
  })

  test.for([
    ['an unknown key in the file', 'loud = true', {}, 'loud in '],
    ['a wrong type in the file', 'stop_timeout = "soon"', {}, 'stop_timeout in '],
    ['a file that is not TOML', 'log = ', {}, 'cannot be read'],
    [
      'a path in the address',
      '',
      { VMHOST_LISTEN: 'https://127.0.0.1:1/api' },
      'VMHOST_LISTEN is wrong: must have no path',
    ],
    ['a relative folder', '', { VMHOST_ALLOWED_FOLDERS: 'images' }, 'absolute'],
  ] as const)('%s stops the start and is named', ([, toml, environment, told]) => {
    expect(() => read(toml, environment)).toThrow(told)
  })

  test.for([
    ['stop_timeout', 'abc', 'must be a whole number of seconds from 1 to 86400'],
    ['stop_timeout', '-1', 'must be a whole number of seconds from 1 to 86400'],
    ['backup_hours', '1.5', 'must be a whole number of hours from 0 to 8760'],
    ['cache_size', '', 'must be a whole number of MB from 0 to 1000000000'],
    ['driver', 'qmu', 'must be auto, qemu or embedded'],
    ['pack_trusted_keys', 'x', 'must be Ed25519 public keys: 32 bytes in base64'],
    ['password_require', 'upper,digits', 'must be lower, upper, digit or special'],
    ['state', '', 'must not be empty'],
  ] as const)('--%s %s is told what it must be: %s', ([key, value, told]) => {
    expect(() => read('', {}, { [key]: value })).toThrow(`--${key.replaceAll('_', '-')} is wrong: ${told}`)
  })

  test('the refusal of a wrong value says what the value must be', () => {
    const inFile = [
      'true',
      '0',
      '-1',
      '0.5',
      '1e300',
      '""',
      '"\\u0001 nonsense"',
      '[]',
      '[7]',
      '[""]',
      '{ a = 1 }',
      '1979-05-27',
    ]
    const told = Object.keys(settings).flatMap(key =>
      inFile.flatMap(value => {
        try {
          read(`${key} = ${value}`)
          return []
        } catch (error) {
          return [(error as Error).message.replace(/^\S+ in \S+ is wrong: /, '')]
        }
      }),
    )
    expect(told.length).toBeGreaterThan(300)
    expect(told.filter(message => !/^(must|tls_certificate and tls_key) /.test(message))).toEqual([])
    expect(told.filter(message => /expected|received|invalid|NaN/i.test(message))).toEqual([])
  })

  test('required signatures without trusted keys are refused', () => {
    const key = `${'A'.repeat(43)}=`
    expect(() => read('pack_trust = "require"')).toThrow(/^pack_trust is require, but pack_trusted_keys is empty/)
    expect(read(`pack_trust = "require"\npack_trusted_keys = ["${key}"]`).pack_trusted_keys).toEqual([key])
  })

  test('takes the issuers that a host trusts as JSON or as a list, and says what one must have', () => {
    const key = { kty: 'RSA', kid: 'k', n: 'n', e: 'AQAB' }
    const issuer = { issuer: 'https://control.example.test', audience: 'a' }
    const read = (value: unknown) =>
      readConfig({ flags: {}, environment: { VMHOST_TRUSTED_ISSUERS: JSON.stringify(value) } }).trusted_issuers
    expect(read([{ ...issuer, jwks: { keys: [key] } }])).toEqual([
      { ...issuer, jwks: { keys: [key] }, algorithm: 'RS256' },
    ])
    expect(read([{ ...issuer, jwks: 'https://control.example.test/keys' }])).toHaveLength(1)
    for (const wrong of [
      [issuer],
      [{ ...issuer, jwks: 'http://control.example.test/keys' }],
      [{ ...issuer, jwks: { keys: [key] }, algorithm: 'none' }],
      [{ ...issuer, jwks: { keys: [key] }, algorithm: 'HS256' }],
      [{ ...issuer, jwks: { keys: [key] }, audience: '' }],
      [{ ...issuer, jwks: { keys: [key] }, nonsense: 1 }],
      'https://control.example.test',
    ])
      expect(() => read(wrong)).toThrow('VMHOST_TRUSTED_ISSUERS is wrong: must be a list of { issuer, jwks, audience }')
  })

  test('has the address of a control service and the key for it together', () => {
    const read = (environment: Record<string, string>) => () => readConfig({ flags: {}, environment })
    const url = { VMHOST_CONTROL_URL: 'https://control.example.test' }
    expect(read(url)).toThrow('go together')
    expect(read({ ...url, VMHOST_CONTROL_KEY: 'nonsense' })).toThrow('must be the key')
    expect(read({ VMHOST_CONTROL_URL: 'http://control.example.test' })).toThrow('https://')
    const VMHOST_CONTROL_KEY = `00000000-0000-4000-8000-000000000001.${'0'.repeat(64)}`
    expect(read({ ...url, VMHOST_CONTROL_KEY })()).toMatchObject({ control_url: 'https://control.example.test' })
  })

  test('every setting is in the documents', () => {
    const page = readFileSync('docs/configuration.md', 'utf8')
    for (const key of Object.keys(settings)) expect(page).toMatch(new RegExp(`^\\| \`${key}\` +\\|`, 'm'))
  })
})
