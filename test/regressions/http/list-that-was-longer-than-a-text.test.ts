import { expect } from 'vitest'
import { register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

// Together longer than the longest JavaScript string (2^29 characters).
const description = 'd'.repeat(4096)
const contents = Array.from({ length: 1_000 }, (_, at) => ({ name: `${at}`.padEnd(3_500, 'n'), path: '/' }))

test('a list of manifests that is longer than the longest string is sent completely', async ({ call, open }) => {
  const most = 160
  for (let version = 0; version < most; version += 1)
    expect((await register(call, { version: `1.${version}`, description, pack_contents: contents })).status).toBe(200)
  const response = await open('GET', '/api/v1/catalog')
  expect(response.status).toBe(200)
  expect(response.headers.get('etag')).toMatch(/^".+"$/)
  let [size, versions, rest] = [0, 0, '']
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    size += part.length
    // The end of a chunk may split a member.
    const text = rest + part
    versions += text.match(/"version":"/g)?.length ?? 0
    rest = text.slice(-'"version":'.length)
  }
  expect(size).toBeGreaterThan(2 ** 29)
  expect(versions).toBe(most)
})
