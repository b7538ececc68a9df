import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { plainCodec } from '#lib/storage/codec.ts'
import { dataKeySize, sealCodec } from '#lib/storage/seal.ts'

test.for([
  ['plain', plainCodec],
  ['sealed', sealCodec(randomBytes(dataKeySize))],
] as const)('a row of a %s store cannot be read in the place of another row', ([, codec]) => {
  const bytes = codec.encode('document items:a', 'text')
  expect(codec.decode('document items:a', bytes)).toBe('text')
  expect(() => codec.decode('document items:b', bytes)).toThrow('document items:b is damaged')
})
