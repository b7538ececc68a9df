import { expect, test } from 'vitest'
import { parseMultistatus } from '#lib/objects/artifactory/multistatus.ts'
import { findElements, findText } from '#lib/objects/s3/xml.ts'

/** Much longer than linear time needs; quadratic time takes minutes. */
const timeout = 30_000

test('a storage’s list of unclosed XML elements is parsed in linear time', { timeout }, () => {
  const xml = '<Contents>'.repeat(200_000)
  expect(findElements(xml, 'Contents')).toEqual([])
  expect(findText(xml, 'Contents')).toBeUndefined()
  expect(findElements(`<Key>a</Key><Key></Key>${xml}`, 'Key')).toEqual(['a', ''])
})

test('an unclosed tag of a WebDAV server is parsed in linear time', { timeout }, () => {
  const asked = new URL('http://dav.example/packs/')
  for (const tag of ['<', '</', '<D:', '<a ', '<a/']) parseMultistatus(tag + 'a'.repeat(1_000_000), asked)
  const href = '<D:href>/packs/a%20b</D:href><D:propstat xml:lang="en"><D:getcontentlength>7</D:getcontentlength>'
  const member = `<D:response>${href}<D:resourcetype/></D:propstat></D:response>`
  expect(parseMultistatus(`<?xml version="1.0"?><D:multistatus>${member}</D:multistatus>`, asked)).toEqual([
    { name: 'a b', isFolder: false, size: 7 },
  ])
})
