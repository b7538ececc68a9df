import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { importsOf } from './build/tests/imports.ts'

/** Tests that are run by every run too, with fewer rounds there. */
const withRounds = globSync('test/**/*.test.ts').filter(file => importsOf(file).has('test/support/rounds.ts'))

/** The long tests, which are run by hand before a release (`npm run full`); what came of them is in docs/full-run.md. */
export default defineConfig({
  test: {
    env: { TEST_ROUNDS: 'long' },
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 30 * 60_000,
    hookTimeout: 10 * 60_000,
    // They measure and kill; beside each other they would test the machine.
    fileParallelism: false,
    reporters: ['default', './test/full/report.ts'],
    projects: [
      { extends: true, test: { name: 'full', include: ['test/full/**/*.test.ts', ...withRounds] } },
      // Every endpoint once more over a connection: `build/tests/listener.ts` has those of every run.
      {
        extends: true,
        test: { name: 'listener', include: ['test/functions/**/*.test.ts'], env: { TEST_TRANSPORT: 'listener' } },
      },
    ],
  },
})
