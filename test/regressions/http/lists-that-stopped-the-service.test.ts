import { expect, test } from 'vitest'
import { parseMultistatus } from '#lib/objects/artifactory/multistatus.ts'
import { findElements, parseXml } from '#lib/objects/http/xml.ts'

/** Much longer than linear time needs; quadratic time takes minutes. */
const timeout = 30_000

test('a storage’s list of unclosed XML elements is parsed in linear time', { timeout }, async () => {
  const xml = '<Contents>'.repeat(200_000)
  await expect(parseXml('s3.example', xml)).rejects.toMatchObject({ fault: 'upstream' })
  const list = await parseXml('s3.example', `<L><Key>a</Key><Key></Key>${'<Contents></L>'.repeat(200_000)}`)
  expect(findElements(list, 'Key')).toEqual(['a', ''])
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
