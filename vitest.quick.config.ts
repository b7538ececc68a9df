import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { importsOf } from './build/test-imports.ts'

/** Imports of tests that start programs, guests or the bundler. */
const slowImports = ['node:child_process', 'esbuild', '#build/host.ts', 'test/support/drivers/embedded-bench.ts']

/** Tests of large data. They alone take a fifth of the time of all others. */
const largeData = [
  'test/functions/catalog/chunked.test.ts',
  'test/regressions/http/list-that-was-longer-than-a-text.test.ts',
]

const files = globSync('test/**/*.test.ts', { exclude: ['test/full/**', ...largeData] }).filter(file => {
  const imports = importsOf(file)
  return slowImports.every(one => !imports.has(one))
})
const replacesModules = (file: string): boolean => readFileSync(file, 'utf8').includes('vi.mock(')

/** The tests that need nothing but Node, in a minute and a half (`npm run test:quick`). */
export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    projects: [
      // These tests share their modules, because loading them again for each file takes as long as the tests.
      { extends: true, test: { name: 'quick', isolate: false, include: files.filter(file => !replacesModules(file)) } },
      { extends: true, test: { name: 'quick, isolated', include: files.filter(replacesModules) } },
    ],
  },
})
