import { expect } from 'vitest'
import { parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { readMetadata } from '#lib/catalog/metadata.ts'
import { parseSidecar } from '#lib/packs/sidecar.ts'
import { parseJson } from '#lib/objects/http/response.ts'
import { createMemoryProvider } from '../../lib/packs/chunk-store/memory-provider.ts'
import { test } from '../../support/harness.ts'

const many = (value: string, count: number): string => `[${`${value},`.repeat(count)}${value}]`

test('a chunk index with a million mistakes is refused at the first', () => {
  const rest = `"mode":420,"name":"a","sha256":"${'0'.repeat(64)}","size":1`
  for (const chunk of ['{}', '[]', '0', '{"zeros":0}', '{"sha256":"","size":1}'])
    // Who describes each of them says which they are.
    expect(() =>
      parseChunkIndex(`{"files":[{"chunks":${many(chunk, 600_000)},${rest}}],"format":"vmhost-chunks-1"}`),
    ).toThrow(
      expect.objectContaining({ fault: 'upstream', message: expect.stringContaining('files.0.chunks must be chunks') }),
    )
})

test('JSON with millions of values is refused before it is parsed', () => {
  const values = many('[]', 4_000_000)
  expect(() => parseChunkIndex(`{"files":${values}}`)).toThrow('too many values')
  expect(() => parseSidecar(`{"files":${values}}`)).toThrow('too many values')
  expect(parseJson(values)).toBeUndefined()
})

test('a description that is nested too deeply is an error of the storage, and is not written again', async () => {
  const provider = createMemoryProvider()
  const deep = Buffer.from(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
  await provider.write('x.meta', { size: deep.length, read: () => new Blob([deep]).stream() })
  await expect(readMetadata(provider, 'x.meta')).rejects.toMatchObject({ fault: 'upstream' })
})

test('a body with very many mistakes is not answered with all of them', async ({ call }) => {
  const contents = Array.from({ length: 50_000 }, () => ({}))
  const { status, body } = await call('POST', '/api/v1/catalog', { body: { virtual_machine_contents: contents } })
  expect(status).toBe(400)
  expect(JSON.stringify(body).length).toBeLessThan(100_000)
})
