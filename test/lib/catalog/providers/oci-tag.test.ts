import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDigestTag, pathOf, tagOf } from '#lib/catalog/providers/oci/tag.ts'

test.each([
  ['win11/win11-arm64-24.2.pdpack', 'win11__win11-arm64-24.2.pdpack'],
  ['a_b', 'a_5Fb'],
  ['.hidden', '_2Ehidden'],
  ['-x', '_2Dx'],
  ['ü +', '_C3_BC_20_2B'],
])('the tag of %s is %s', (path, tag) => {
  expect(tagOf(path)).toBe(tag)
  expect(pathOf(tag)).toBe(path)
})

test.each(['_', 'a_', 'a_5f', 'a_61', '_sha256-00', 'a b', 'a_FF', ''])('no path has the tag %j', tag => {
  expect(pathOf(tag) || undefined).toBeUndefined()
})

test('every path has a tag that registries take, and no other path has it', () => {
  const paths = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(paths, path => {
      const tag = tagOf(path)
      expect(tag).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/)
      expect(pathOf(tag)).toBe(isDigestTag(tag) ? undefined : path)
    }),
  )
})
