import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { importsOf } from './build/test-imports.ts'

/** Tests that are run by every run too, with fewer rounds there. */
const withRounds = globSync('test/**/*.test.ts').filter(file => importsOf(file).has('test/support/rounds.ts'))

/** The long tests, which are run by hand before a release (`npm run full`); what came of them is in docs/full-run.md. */
export default defineConfig({
  test: {
    include: ['test/full/**/*.test.ts', ...withRounds],
    env: { TEST_ROUNDS: 'long' },
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 30 * 60_000,
    hookTimeout: 10 * 60_000,
    // They measure and kill; beside each other they would test the machine.
    fileParallelism: false,
    reporters: ['default', './test/full/report.ts'],
  },
})
