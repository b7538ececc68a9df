import { expect, test } from 'vitest'
import { findElements, findText, parseXml } from '#lib/objects/http/xml.ts'

const parse = (text: string) => parseXml('storage.example', text)

test('gives the text of elements, with the entities of XML decoded', async () => {
  const xml = await parse(
    '<R><C><K>a&amp;lt;&#x1F600;&#252;&nope;</K></C><C><K> b </K></C><CommonPrefixes><K>c</K></CommonPrefixes></R>',
  )
  expect(findElements(xml, 'C').map(found => findText(found, 'K'))).toEqual(['a&lt;😀ü&nope;', ' b '])
  expect(findText(xml, 'No')).toBeUndefined()
})

test('keeps control characters, so that two keys stay different', async () =>
  expect(findText(await parse('<Key>a&#x1;b&#13;</Key>'), 'Key')).toBe('a\u0001b\r'))

test('reads CDATA as it is, and numbers as text', async () =>
  expect(findText(await parse('<Key><![CDATA[<007>&amp;]]></Key>'), 'Key')).toBe('<007>&amp;'))

test('does not expand the entities of a document', async () =>
  expect(findText(await parse('<!DOCTYPE a [<!ENTITY x "xxx">]><a>&x;</a>'), 'a')).toBe('&x;'))

test('finds elements whatever their prefix is, and those that are nested least', async () => {
  const xml = await parse(
    '<D:response xmlns:D="DAV:"><D:lock><D:href>/lock</D:href></D:lock><D:href a="b">/file</D:href></D:response>',
  )
  expect(findElements(xml, 'href')).toEqual(['/file'])
})

test.each(['', 'Bad Gateway', '{"a": 1}'])('finds nothing in what is no XML: %j', async text =>
  expect(findElements(await parse(text), 'a')).toEqual([]),
)

test.each(['<a><b', '<a><!-- ', '<a><__proto__>b</__proto__></a>', '<a>'.repeat(200)])(
  'refuses what cannot be parsed: %j',
  async text =>
    expect(parse(text)).rejects.toMatchObject({
      fault: 'upstream',
      message: 'The storage storage.example sent XML that cannot be read.',
    }),
)
