import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '#lib/config.ts'
import { settings } from '#lib/settings.ts'

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

  test('the file that is named is the file that is read', () => {
    const named = file('log = "warning"')
    expect(read('log = "debug"', { VMHOST_CONFIG: named }).log).toBe('warning')
    expect(read('log = "debug"', { VMHOST_CONFIG: named }, { config: file('log = "error"') }).log).toBe('error')
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

  test('every setting is in the README', () => {
    const readme = readFileSync('README.md', 'utf8')
    for (const key of Object.keys(settings)) expect(readme).toMatch(new RegExp(`^\\| \`${key}\` +\\|`, 'm'))
  })
})
