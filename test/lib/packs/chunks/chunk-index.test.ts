import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ListedFile, collectChunks, encodeChunkIndex, parseChunkIndex } from '#lib/packs/chunks/chunk-index.ts'
import { isChunkIndex } from '#lib/packs/chunk-store/index-object.ts'

const sha256 = 'ab'.repeat(32)
const whole = 'cd'.repeat(32)
const fileText = `{"chunks":[{"sha256":"${sha256}","size":5},{"zeros":300000}],"mode":420,"name":"a/disk.img","sha256":"${whole}","size":300005}`
const listOf = (...files: string[]): string => `{"files":[${files.join(',')}],"format":"vmhost-chunks-1"}`
const text = listOf(fileText)

const files = fc
  .array(
    fc.record({
      sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
      size: fc.integer({ min: 1, max: 4 * 1024 * 1024 }),
      zeros: fc.nat(2 ** 40),
    }),
  )
  .map((parts): ListedFile => {
    const chunks = parts.flatMap(({ sha256, size, zeros }) => [{ sha256, size }, ...(zeros > 0 ? [{ zeros }] : [])])
    const size = chunks.reduce((sum, one) => sum + ('zeros' in one ? one.zeros : one.size), 0)
    return { name: '', mode: 0o644, sha256: whole, size, chunks }
  })

describe('a chunk index', () => {
  test('is parsed as it was encoded, and is recognized by its first bytes', () => {
    fc.assert(
      fc.property(fc.array(files, { maxLength: 4 }), parts => {
        const list = parts.map((file, at) => ({ ...file, name: `f${at}` }))
        expect(parseChunkIndex(encodeChunkIndex(list))).toEqual(list)
        expect(isChunkIndex(Buffer.from(encodeChunkIndex(list)))).toBe(list.length > 0)
      }),
    )
    expect(isChunkIndex(Buffer.from('{"files":'))).toBe(false)
  })

  test('has one text for equal files, and its chunks are collected once each', () => {
    const chunks = [{ size: 5, sha256 }, { zeros: 300_000 }]
    const file = { size: 300_005, sha256: whole, name: 'a/disk.img', mode: 0o644, chunks }
    expect(encodeChunkIndex([file])).toBe(text)
    expect(parseChunkIndex(text)).toEqual([file])
    expect([...collectChunks([file, file])]).toEqual([[sha256, { size: 5, sha256 }]])
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
    ['a field that is not known', text.replace('"mode":420', '"mode":420,"more":1')],
    ['a field of both kinds', text.replace('"zeros"', '"size":1,"zeros"')],
    ['spaces', text.replaceAll(',', ', ')],
    ['another order', `{"format":"vmhost-chunks-1","files":[]}`],
    ['another format', text.replace('chunks-1', 'chunks-2')],
    ['a mode beyond the permissions', text.replace(':420', ':2541')],
    ['a name that leads out', text.replace('a/disk.img', '../disk.img')],
    ['an absolute name', text.replace('a/disk.img', '/disk.img')],
    ['a name of the service', text.replace('a/disk.img', '.vmhost-x')],
    ['one name twice', listOf(fileText, fileText)],
    ['names that are one without case', listOf(fileText, fileText.replace('a/disk.img', 'A/disk.img'))],
    ['a file that is a folder', listOf(fileText, fileText.replace('a/disk.img', 'a'))],
  ])('is refused with %s', (_, broken) => {
    expect(broken).not.toBe(text)
    expect(() => parseChunkIndex(broken)).toThrow(expect.objectContaining({ fault: 'upstream' }))
  })
})
