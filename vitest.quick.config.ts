import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { importsOf } from './build/test-imports.ts'

/** What starts programs, guests or the bundler. */
const slow = ['node:child_process', 'esbuild', '#build/host.ts', 'test/support/drivers/embedded-bench.ts']

/** The tests that need nothing but Node, in a minute and a half (`npm run test:quick`). */
export default defineConfig({
  test: {
    include: globSync('test/**/*.test.ts').filter(file => {
      const imports = importsOf(file)
      return slow.every(one => !imports.has(one))
    }),
    exclude: ['test/full/**'],
    testTimeout: 60_000,
  },
})
