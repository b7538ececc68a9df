import { expect, test } from 'vitest'
import { readSetting } from '#lib/machines/settings/table.ts'
import { PushManifest } from '#lib/transfers/schemas.ts'

const current = {
  id: crypto.randomUUID(),
  name: 'one',
  description: '',
  cpus: 1,
  memory: 16,
  disks: [],
  networks: [],
  cdroms: [],
}

test.each([
  ['cpu', 'constructor', '1'],
  ['cpu', '__proto__', '1'],
  ['constructor', 'set', '1'],
  ['__proto__', 'toString', '1'],
  ['device', 'add', 'constructor'],
  ['device', 'valueOf', 'hdd0'],
])('%s %s %s is refused as unsupported', (group, operation, value) => {
  const read = () => readSetting({ group, operation, value, options: [], flags: [] }, current as never, {} as never)
  expect(read).toThrow(/is unsupported/)
})

test.each(['constructor', '__proto__'])('%s is no level of compression', compress_level => {
  const schema = PushManifest.shape.compress_level
  expect(schema.parse(compress_level)).toBe(5)
})
