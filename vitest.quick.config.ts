import { defineConfig } from 'vitest/config'
import { replacingTests, sharingTests } from './build/tests/quick.ts'

/** The tests that need nothing but Node, in a minute and a half (`npm run test:quick`). */
export default defineConfig({
  test: {
    // Most of their time is waiting.
    maxWorkers: 4,
    testTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'quick', isolate: false, include: [...sharingTests] } },
      { extends: true, test: { name: 'quick, isolated', include: [...replacingTests] } },
    ],
  },
})
