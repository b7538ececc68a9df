import { expect, test } from 'vitest'
import { unpackChunkedFiles } from '#lib/packs/chunk-store/unpack-chunked.ts'
import { newFolder } from '../../support/folder.ts'

test('a chunk index is limited to as many files as a pack', async () => {
  using folder = newFolder()
  const files = ['a', 'b', 'c'].map(name => ({ name, mode: 0o644, size: 0, sha256: '', chunks: [] }))
  const options = (entries: number) => ({
    limits: { entries, bytes: 1000, ratio: 10 },
    getFetchedSize: () => 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  const fetch = () => expect.unreachable()
  await expect(unpackChunkedFiles(files, fetch, folder.path, options(2))).rejects.toThrow('more than 2 files')
  using other = newFolder()
  expect(await unpackChunkedFiles(files, fetch, other.path, options(3))).toHaveLength(3)
})
