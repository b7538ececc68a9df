import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { executable, whySkipped, withoutExecutable } from '../support/executable.ts'

const folder = dirname(executable)

describe.skipIf(withoutExecutable)(`the files of the executable${whySkipped}`, () => {
  test.skipIf(process.platform !== 'linux')('have at most 125 MB, on Linux', () => {
    expect(statSync(executable).size).toBeLessThanOrEqual(125e6)
  })

  test('have their checksums beside them', () => {
    const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n')
    const names = lines.map(line => /^([\da-f]{64}) {2}(\S+)$/.exec(line)!)
    for (const [, sum, name] of names) expect(hash('sha256', readFileSync(join(folder, name!)))).toBe(sum)
    expect(names.map(([, , name]) => name)).toEqual(
      expect.arrayContaining(['vmhost-0.1.0.cdx.json', 'vmhost-0.1.0-licenses.txt']),
    )
  })

  test('have the licenses of Node and of every package', () => {
    const text = readFileSync(join(folder, 'vmhost-0.1.0-licenses.txt'), 'utf8')
    expect(text).toMatch(/^node \d+\.\d+\.\d+\n\nNode\.js is licensed/)
    for (const name of ['hono', 'v86', 'ssh2', 'zod']) expect(text).toMatch(new RegExp(`^${name} \\S+ \\(`, 'm'))
  })
})
