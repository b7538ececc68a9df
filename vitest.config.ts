import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Begins with the tests of the built program and of drivers, which take the longest, so that none of them ends alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => /\/test\/(service|lib\/hypervisor)\//.test(moduleId)
    return files.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  }
}

export default defineConfig({
  test: {
    // What takes minutes belongs to `npm run full`.
    exclude: ['test/full/**'],
    sequence: { sequencer: LongestFirst },
    // Most of these tests wait for guests and starts for most of their time, also on a machine of two processors.
    maxWorkers: 4,
    // Guests are translated, and the machine may be busy with other tests of this run.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } },
      // The endpoints once more, over a connection: what the listener answers by itself is what the application answers.
      {
        extends: true,
        test: { name: 'listener', include: ['test/functions/**/*.test.ts'], env: { TEST_TRANSPORT: 'listener' } },
      },
    ],
  },
})
