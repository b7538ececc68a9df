import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeChunkList, parseChunkList } from '#lib/catalog/chunks/chunk-list.ts'
import type { ChunkList } from '#lib/catalog/chunks/chunk-list.ts'

const sha256 = 'ab'.repeat(32)
const text = `{"chunks":[{"sha256":"${sha256}","size":5},{"zeros":300000}],"size":300005}`

const lists = fc
  .array(
    fc.record({
      sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
      size: fc.integer({ min: 1, max: 4 * 1024 * 1024 }),
      zeros: fc.nat(2 ** 40),
    }),
  )
  .map((parts): ChunkList => {
    const chunks = parts.flatMap(({ sha256, size, zeros }) => [{ sha256, size }, ...(zeros > 0 ? [{ zeros }] : [])])
    return { size: chunks.reduce((sum, one) => sum + ('zeros' in one ? one.zeros : one.size), 0), chunks }
  })

describe('a list of chunks', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(lists, list => {
        expect(parseChunkList(encodeChunkList(list))).toEqual(list)
      }),
    )
  })

  test('has one text, whatever the order in which it was made', () => {
    expect(encodeChunkList({ size: 300_005, chunks: [{ size: 5, sha256 }, { zeros: 300_000 }] })).toBe(text)
    expect(parseChunkList(text).size).toBe(300_005)
  })

  test.each([
    ['no JSON', text.slice(1)],
    ['another value', '[]'],
    ['a size that is not the sum', text.replace('300005', '300006')],
    ['a chunk that is too large', text.replace(':5}', ':4194305}').replace('300005', '4494305')],
    ['a chunk of nothing', text.replace(':5}', ':0}').replace('300005', '300000')],
    ['half a byte', text.replace(':5}', ':5.5}').replace('300005', '300005.5')],
    ['a negative run', text.replace('300000', '-1').replace('300005', '4')],
    ['zeros after zeros', text.replace('{"zeros":300000}', '{"zeros":1},{"zeros":299999}')],
    ['a name that is no SHA-256', text.replace(sha256, '../../../etc/passwd')],
    ['a name in upper case', text.replace(sha256, sha256.toUpperCase())],
    ['a field that is not known', text.replace('"size":300005', '"more":1,"size":300005')],
    ['a field of both kinds', text.replace('"zeros"', '"size":1,"zeros"')],
    ['spaces', text.replaceAll(',', ', ')],
    ['another order', `{"size":0,"chunks":[]}`],
  ])('is refused with %s', (_, broken) => {
    expect(broken).not.toBe(text)
    expect(() => parseChunkList(broken)).toThrow(expect.objectContaining({ fault: 'invalid' }))
  })
})
