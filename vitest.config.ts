import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { listenerTests } from './build/tests/listener.ts'
import { sharingTests } from './build/tests/quick.ts'

/**
 * Begins with the tests of the built program and of drivers, which take the longest, so that none of them ends alone. Those
 * that share modules come last, and a project is not torn apart: a process goes on only with a file of its own project.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      if (project.name !== 'all') return ['sharing', 'listener'].indexOf(project.name)
      return /\/test\/(service|lib\/hypervisor)\//.test(moduleId) ? -2 : -1
    }
    return files.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Most of these tests wait for guests and starts for most of their time, also on a machine of two processors.
    maxWorkers: 4,
    // Guests are translated, and the machine may be busy with other tests of this run.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        // What takes minutes belongs to `npm run full`.
        test: { name: 'all', include: ['test/**/*.test.ts'], exclude: ['test/full/**', ...sharingTests] },
      },
      { extends: true, test: { name: 'sharing', isolate: false, include: [...sharingTests] } },
      {
        extends: true,
        test: {
          name: 'listener',
          isolate: false,
          include: [...listenerTests],
          env: { TEST_TRANSPORT: 'listener' },
        },
      },
    ],
  },
})
