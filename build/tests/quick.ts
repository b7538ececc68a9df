import { globSync, readFileSync } from 'node:fs'
import { importsOf } from './imports.ts'

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

const quickTests = globSync('test/**/*.test.ts', { exclude: ['test/full/**', ...longTests] }).filter(file => {
  const imports = importsOf(file)
  return slowImports.every(one => !imports.has(one))
})
const replacesModules = (file: string): boolean => readFileSync(file, 'utf8').includes('vi.mock(')

/** The tests that need nothing but Node and replace modules, so each of them needs its own. */
export const replacingTests: readonly string[] = quickTests.filter(replacesModules)

/**
 * The tests that need nothing but Node and leave the modules as they are. They run side by side with one set of modules,
 * because loading them again for each file takes as long as the tests.
 */
export const sharingTests: readonly string[] = quickTests.filter(file => !replacesModules(file))
