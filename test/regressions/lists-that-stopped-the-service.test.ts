import { expect, test } from 'vitest'
import { membersIn } from '#lib/catalog/providers/artifactory-multistatus.ts'
import { elements, textIn } from '#lib/catalog/providers/s3/xml.ts'

/** Milliseconds of a work that looks at each sign a few times; looking at all others for each takes minutes. */
const soon = 2_000

const timeOf = (work: () => unknown): number => {
  const begin = performance.now()
  work()
  return performance.now() - begin
}

test('a storage’s list of starts without an end is read in no time', () => {
  const xml = '<Contents>'.repeat(200_000)
  expect(timeOf(() => expect(elements(xml, 'Contents')).toEqual([]))).toBeLessThan(soon)
  expect(timeOf(() => expect(textIn(xml, 'Contents')).toBeUndefined())).toBeLessThan(soon)
  expect(elements(`<Key>a</Key><Key></Key>${xml}`, 'Key')).toEqual(['a', ''])
})

test('so is a WebDAV server’s tag without an end', () => {
  const asked = new URL('http://dav.example/packs/')
  for (const tag of ['<', '</', '<D:', '<a ', '<a/'])
    expect(timeOf(() => membersIn(tag + 'a'.repeat(1_000_000), asked))).toBeLessThan(soon)
  const href = '<D:href>/packs/a%20b</D:href><D:propstat xml:lang="en"><D:getcontentlength>7</D:getcontentlength>'
  const member = `<D:response>${href}<D:resourcetype/></D:propstat></D:response>`
  expect(membersIn(`<?xml version="1.0"?><D:multistatus>${member}</D:multistatus>`, asked)).toEqual([
    { name: 'a b', isFolder: false, size: 7 },
  ])
})
