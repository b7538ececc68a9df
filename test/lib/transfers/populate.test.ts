import { expect, test } from 'vitest'
import { noProgress } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import { encodeChunkIndex, parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import type { TransferContext } from '#lib/transfers/context.ts'
import { populateFolder } from '#lib/transfers/populate.ts'
import { packSource } from '../../support/pack-source.ts'

const chunk = { sha256: 'ab'.repeat(32), size: 3000 }
const file = { name: 'disk', mode: 0o600, size: 6000, sha256: 'cd'.repeat(32), chunks: [chunk, chunk] }

test.for([
  ['pack', Buffer.alloc(5000), 5000, 5000],
  // A chunk is fetched once, and written as often as the file has it.
  ['chunk index', Buffer.from(encodeChunkIndex([file])), 3000, 6000],
] as const)(
  'a pull of a %s looks for room for the machine on the disk of its folder, before it fetches',
  async ([, bytes, fetched, unpacked]) => {
    const asked: unknown[] = []
    const context = {
      cache: { restore: async () => undefined },
      catalog: { indexParser: { parseFiles: async (text: Buffer) => parseChunkIndex(text.toString()) } },
      folders: {
        async checkSpace(...space: readonly unknown[]) {
          asked.push(...space)
          throw new ServiceError('no-space', 'full')
        },
      },
    } as unknown as TransferContext
    const { signal } = new AbortController()
    const options = { caller: { id: 'tester' }, progress: noProgress, signal } as unknown as Parameters<
      typeof populateFolder
    >[3]
    const filled = populateFolder(context, packSource(bytes, undefined).source, '/machines/one', options)
    await expect(filled).rejects.toMatchObject({ fault: 'no-space' })
    expect(asked).toEqual([fetched, { folder: '/machines/one', bytes: unpacked }])
  },
)
