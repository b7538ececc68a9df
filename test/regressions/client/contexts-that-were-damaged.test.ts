import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { readContexts } from '#lib/entry/connect/contexts.ts'
import { newFolder } from '../../support/folder.ts'

afterEach(() => void vi.unstubAllEnvs())

test.each([
  ['no JSON', '{'],
  ['null', 'null'],
  ['a list', '[]'],
  ['no contexts', '{"current":"a"}'],
  ['a context without an address', '{"contexts":{"a":{"token":"t"}}}'],
  ['a token that is no text', '{"contexts":{"a":{"url":"https://host.example","token":{}}}}'],
  ['a present context that is no name', '{"current":7,"contexts":{}}'],
])('a file with %s is refused, with what to do', (_, text) => {
  using folder = newFolder()
  vi.stubEnv('XDG_CONFIG_HOME', folder.path)
  mkdirSync(join(folder.path, 'vmhost'))
  writeFileSync(join(folder.path, 'vmhost/contexts.json'), text)
  expect(readContexts).toThrow(/contexts\.json is damaged\. Delete it, and sign in again with `vmhost login`\.$/)
})
