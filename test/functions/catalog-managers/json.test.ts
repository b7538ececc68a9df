import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseReply } from '#lib/remote-catalogs/parse-reply.ts'

const read = (text: string): unknown => parseReply({ body: Buffer.from(text) })

describe('a JSON reply', () => {
  test('is parsed correctly, whatever characters its texts have', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), value => {
        const text = JSON.stringify(value)
        expect(read(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
    const signs = `${'[{'.repeat(100)}\\"\\\\",`
    expect(read(JSON.stringify([signs, { [signs]: signs }]))).toEqual([signs, { [signs]: signs }])
  })

  test.for([
    ['deep lists', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['deep objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['depth after a text', `["\\"]",${'['.repeat(64)}${']'.repeat(64)}]`],
    ['many values', `[${'0,'.repeat(2_000_001)}0]`],
    ['many lists', `[${'[]'.repeat(2_000_001)}]`],
  ])('%s are refused before they are parsed', ([, text]) =>
    expect(() => read(text!)).toThrow(
      expect.objectContaining({ fault: 'upstream', message: expect.stringMatching(/too/) }),
    ),
  )

  test('a reply of the size of a large catalog is accepted', () => {
    expect(read(`[${'0,'.repeat(1_999_990)}0]`)).toHaveLength(1_999_991)
    expect(read(`${'['.repeat(64)}${']'.repeat(64)}`)).toHaveLength(1)
  })
})
