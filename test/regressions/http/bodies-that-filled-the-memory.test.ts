import { expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

test('of the large bodies of one user only some are read at a time, and those of others are not held up', async ({
  app,
  call,
}) => {
  const begun: ReadableStreamDefaultController[] = []
  const send = async (at: number): Promise<Response> => {
    const body = new ReadableStream<Uint8Array>(
      // It never goes on.
      { pull: controller => new Promise(() => void begun.push(controller)) },
      { highWaterMark: 0 },
    )
    const headers = { authorization: 'Bearer CREATE_IMAGE', 'content-range': 'bytes 0-9/*' }
    const init = { method: 'PUT', headers, body, duplex: 'half' }
    return app.fetch(new Request(`http://localhost/api/v1/images/image-${at}/upload`, init))
  }
  const answers = Array.from({ length: 10 }, (_, at) => send(at))
  await until(() => expect(begun.length).toBeGreaterThan(0))
  const other = await call('PUT', '/api/v1/images/other/upload', {
    as: ['other', 'CREATE_IMAGE'],
    body: Buffer.alloc(10),
    headers: { 'content-type': 'application/octet-stream', 'content-range': 'bytes 0-9/*' },
  })
  expect(other.status).toBe(200)
  // Each may have 16 MiB, and a user has 64.
  expect(begun).toHaveLength(4)
  begun[0]!.error(new Error('the sender is gone'))
  await until(() => expect(begun).toHaveLength(5))
  for (let at = 1; at < answers.length; at += 1) {
    await until(() => expect(begun.length).toBeGreaterThan(at))
    begun[at]!.error(new Error('the sender is gone'))
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 400))
})
