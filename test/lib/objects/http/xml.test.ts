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
  expect(findElements(xml, 'href').map(({ text }) => text)).toEqual(['/file'])
})

test.each(['', 'Bad Gateway', '{"a": 1}'])('finds nothing in what is no XML: %j', async text =>
  expect(findElements(await parse(text), 'a')).toEqual([]),
)

test.each([
  ['an element without an end', '<a><b></b>'],
  ['a tag without an end', '<a><b'],
  ['a root without an end', '<DeleteRes'],
  ['a comment without an end', '<a><!-- '],
  ['CDATA without an end', '<a><![CDATA[b'],
  ['a declaration without a root', '<?xml version="1.0"?>'],
  ['an element that ends before its child', '<a><b></a></b>'],
  ['an end without an element', '<a></b></a>'],
  ['another prefix at the end', '<x:a></y:a>'],
  ['elements nested too deeply', '<a>'.repeat(101) + '</a>'.repeat(101)],
  ['too many elements', `<a>${'<b/>'.repeat(1_000_000)}</a>`],
])('refuses %s', async (_, text) =>
  expect(parse(text)).rejects.toMatchObject({
    fault: 'upstream',
    message: 'The storage storage.example sent XML that cannot be read.',
  }),
)

test('reads elements that are nested a hundred deep', async () =>
  expect(findText(await parse(`${'<a>'.repeat(99)}<b>c</b>${'</a>'.repeat(99)}`), 'b')).toBe('c'))

test('keeps the text around children and comments, and references that XML does not define', async () => {
  const xml = await parse('<a b=">">1<c/> 2 <!-- 3 -->&am<!-- -->p;&constructor;&#x110000;&#128;</a>')
  expect(findText(xml, 'a')).toBe('1 2 &amp;&constructor;&#x110000;\u0080')
})
