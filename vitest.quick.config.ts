import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { importsOf } from './build/test-imports.ts'

/** Imports of tests that start programs, guests or the bundler. */
const slowImports = ['node:child_process', 'esbuild', '#build/host.ts', 'test/support/drivers/embedded-bench.ts']

/** Tests of large data, which alone take two fifths of the time of all others, and a test that waits for work that hangs. */
const longTests = [
  'test/functions/catalog/chunked.test.ts',
  'test/lib/packs/chunk-store/write-read.test.ts',
  'test/lib/packs/chunks/chunker.test.ts',
  'test/lib/packs/round-trip.test.ts',
  'test/regressions/http/list-that-was-longer-than-a-text.test.ts',
  'test/regressions/jobs/job-that-could-not-be-cancelled.test.ts',
  'test/regressions/storage/log-that-was-cut-at-its-damage.test.ts',
  'test/regressions/transfers/chunk-indexes-that-starved-pulls.test.ts',
]

const files = globSync('test/**/*.test.ts', { exclude: ['test/full/**', ...longTests] }).filter(file => {
  const imports = importsOf(file)
  return slowImports.every(one => !imports.has(one))
})
const replacesModules = (file: string): boolean => readFileSync(file, 'utf8').includes('vi.mock(')

/** The tests that need nothing but Node, in a minute and a half (`npm run test:quick`). */
export default defineConfig({
  test: {
    // Most of their time is waiting.
    maxWorkers: 4,
    testTimeout: 60_000,
    projects: [
      // These tests share their modules, because loading them again for each file takes as long as the tests.
      { extends: true, test: { name: 'quick', isolate: false, include: files.filter(file => !replacesModules(file)) } },
      { extends: true, test: { name: 'quick, isolated', include: files.filter(replacesModules) } },
    ],
  },
})
