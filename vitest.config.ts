import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Guests are translated, and the machine may be busy with other tests of this run.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
})
