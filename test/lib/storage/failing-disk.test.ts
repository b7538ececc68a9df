import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { buildFaults, runWithFaults } from '../../support/disks/failing-disk.ts'
import { newFolder } from '../../support/folder.ts'

const built = newFolder()
const library = buildFaults(built.path)
afterAll(() => built[Symbol.dispose]())

interface Outcome {
  readonly before: string
  readonly during: readonly string[]
  readonly failure?: string
  readonly seen: readonly string[]
  readonly after: string
  readonly head: number
  readonly kept: readonly string[]
  readonly entries: number
}

describe.skipIf(library === undefined).for([
  ['plain', []],
  ['encrypted', ['a password for the store']],
] as const)('a store (%s) on a disk that fails (needs a C compiler)', ([, password]) => {
  const run = async (fault: string): Promise<Outcome> => {
    using folder = newFolder()
    const faults = join(folder.path, 'faults')
    const program = resolve('test/support/disks/store-on-failing-disk.ts')
    const output = await runWithFaults(library!, faults, program, [
      join(folder.path, 'state'),
      faults,
      fault,
      ...password,
    ])
    return JSON.parse(output) as Outcome
  }
  /** Told as it is: what was acknowledged is kept, and what was refused is not. */
  const expectTruth = ({ during, seen, kept, after, head, entries }: Outcome): void => {
    const done = ['during', 'beside'].filter((_, at) => during[at] === 'done')
    expect(seen.toSorted()).toEqual(['before', ...done].toSorted())
    expect(kept.toSorted()).toEqual(['before', ...done, ...(after === 'done' ? ['after'] : [])].toSorted())
    expect(entries).toBe(head)
    expect(head).toBe(kept.length)
  }

  test.for([
    ['a sync of the log that fails once', 'sync store.db-wal 1'],
    ['a write to the log that fails once', 'write store.db-wal 1'],
  ] as const)('%s: the store finds out what is on disk, reports that and goes on', async ([, fault]) => {
    const outcome = await run(fault)
    expect(outcome).toMatchObject({ before: 'done', after: 'done' })
    expect(outcome.failure).toBeUndefined()
    expectTruth(outcome)
  })

  test('a disk that keeps failing stops the store, and the error says so', async () => {
    const outcome = await run('sync store.db-wal 1000')
    expect(outcome).toMatchObject({ before: 'done', during: ['unavailable', 'unavailable'], after: 'unavailable' })
    expect(outcome.failure).toContain('the content on disk is unknown')
    expect(outcome.seen).toEqual(['before'])
    expect(outcome.kept).toContain('before')
  })
})
