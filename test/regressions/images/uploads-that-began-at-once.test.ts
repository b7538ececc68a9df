import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'

const put = (call: Call, name: string, bytes = Buffer.alloc(10)) =>
  call('PUT', `/api/v1/images/${name}/upload`, {
    body: bytes,
    headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-${bytes.length - 1}/*` },
  })

test('a user has eight uploads at most, also of those that begin at the same time', async ({ call, folder }) => {
  const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => put(call, `image-${at}`)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(8)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(22)
  expect(readdirSync(join(folder, 'state', 'images', 'uploads'))).toHaveLength(8)
  // Each of the eight can begin again.
  const begun = answers.findIndex(({ status }) => status === 200)
  expect((await put(call, `image-${begun}`)).status).toBe(200)
})
