import { expect, test } from 'vitest'
import { parseMultistatus } from '#lib/objects/artifactory/multistatus.ts'
import { findElements, findText, parseXml } from '#lib/objects/http/xml.ts'

/** Much longer than linear time needs; quadratic time takes minutes. */
const timeout = 30_000

test('a storage’s list of unclosed XML elements is parsed in linear time', { timeout }, async () => {
  const xml = '<Contents>'.repeat(200_000)
  await expect(parseXml('s3.example', xml)).rejects.toMatchObject({ fault: 'upstream' })
  const ended = `<L><Key>a</Key><Key></Key>${'<Contents></L>'.repeat(200_000)}`
  await expect(parseXml('s3.example', ended)).rejects.toMatchObject({ fault: 'upstream' })
})

test('an unclosed tag of a WebDAV server is parsed in linear time', { timeout }, async () => {
  const asked = new URL('http://dav.example/packs/')
  for (const tag of ['<', '</', '<D:', '<a ', '<a/'])
    await parseXml('dav.example', tag + 'a'.repeat(1_000_000)).catch((error: unknown) =>
      expect(error).toMatchObject({ fault: 'upstream' }),
    )
  const href = '<D:href>/packs/a%20b</D:href><D:propstat xml:lang="en"><D:getcontentlength>7</D:getcontentlength>'
  const member = `<D:response>${href}<D:resourcetype/></D:propstat></D:response>`
  const xml = await parseXml('dav.example', `<?xml version="1.0"?><D:multistatus>${member}</D:multistatus>`)
  expect(parseMultistatus(xml, asked)).toEqual([{ name: 'a b', isFolder: false, size: 7 }])
})

const fill = (part: string): string => part.repeat(10_000_000 / part.length)

test.each([
  ['elements', `<L>${fill('<a/>')}</L>`],
  ['attributes', `<L ${fill('a="" ')}/>`],
  ['character references', `<L>${fill('&#x1;')}</L>`],
  ['ampersands', `<L>${fill('&')}</L>`],
  ['text', `<L>${fill('a')}</L>`],
  ['comments', `<L>${fill('a<!---->')}</L>`],
  ['unclosed comments', `<L>${fill('<!--')}</L>`],
])('10 MB of %s hold the service up for a moment only', async (_, xml) => {
  await parseXml('s3.example', '<L/>')
  const begun = process.cpuUsage()
  await parseXml('s3.example', xml).catch((error: unknown) => expect(error).toMatchObject({ fault: 'upstream' }))
  // Milliseconds. Parsing takes up to 300; the parser that was used before took seconds.
  expect(process.cpuUsage(begun).user / 1000).toBeLessThan(2_000)
})

test('reading the rows of a list takes time that grows with their number alone', { timeout }, async () => {
  const row = '<Blob><Name>a</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>'
  const list = await parseXml('azure.example', `<List><Blobs>${row.repeat(50_000)}</Blobs></List>`)
  const sizes = findElements(list, 'Blob').map(blob => [findText(blob, 'Content-Length'), findText(blob, 'Missing')])
  expect(sizes).toHaveLength(50_000)
  expect(sizes.at(-1)).toEqual(['1', undefined])
})
