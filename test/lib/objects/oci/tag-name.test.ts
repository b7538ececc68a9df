import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDigestTag, decodeTag, encodeTag } from '#lib/objects/oci/tag-name.ts'

test.each([
  ['win11/win11-arm64-24.2.pdpack', 'win11__win11-arm64-24.2.pdpack'],
  ['a_b', 'a_5Fb'],
  ['.hidden', '_2Ehidden'],
  ['-x', '_2Dx'],
  ['ü +', '_C3_BC_20_2B'],
])('the tag of %s is %s', (path, tag) => {
  expect(encodeTag(path)).toBe(tag)
  expect(decodeTag(tag)).toBe(path)
})

test.each(['_', 'a_', 'a_5f', 'a_61', '_sha256-00', 'a b', 'a_FF', ''])('the tag %j decodes to no path', tag => {
  expect(decodeTag(tag) || undefined).toBeUndefined()
})

test('every path has a unique tag that is valid for registries', () => {
  const paths = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(paths, path => {
      const tag = encodeTag(path)
      expect(tag).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/)
      expect(decodeTag(tag)).toBe(isDigestTag(tag) ? undefined : path)
    }),
  )
})
