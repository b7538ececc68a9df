import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createMd5, createMd5Thread } from '#lib/catalog/pack/md5.ts'
import { type StartWorker, workersFrom } from '#lib/platform/workers.ts'

const startWorker = workersFrom(new URL('../../../../lib/entry/main.ts', import.meta.url))
const parts = Array.from({ length: 24 }, (_, at) => randomBytes(at * 50_000))

describe('the MD5 of a pack', () => {
  test.each([
    ['at once', () => createMd5()],
    ['in a thread', () => createMd5Thread(startWorker)],
  ])('is that of all of its parts: %s', async (_, create) => {
    await using md5 = create()
    for (const part of parts) await md5.update(part)
    expect(await md5.end()).toBe(createHash('md5').update(Buffer.concat(parts)).digest('hex'))
  })

  test('fails when its thread does, and never waits for it', async () => {
    const started: ReturnType<StartWorker>[] = []
    await using md5 = createMd5Thread((...how) => {
      const worker = startWorker(...how)
      started.push(worker)
      return worker
    })
    await md5.update(parts[1]!)
    await started[0]!.terminate()
    await expect(md5.update(Buffer.alloc(9 * 1024 * 1024))).rejects.toMatchObject({ fault: 'internal' })
    await expect(md5.end()).rejects.toMatchObject({ fault: 'internal' })
  })
})
