import { open } from 'node:fs/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { unpackChunkedFiles } from '#lib/packs/chunk-store/unpack-chunked.ts'
import { newFolder } from '../../../support/folder.ts'

afterEach(() => void vi.restoreAllMocks())

test('a large file is synced while its chunks are written, so that little is left for its end', async () => {
  using folder = newFolder()
  await using any = await open(folder.path)
  const handles = Object.getPrototypeOf(any) as typeof any
  const datasync = vi.spyOn(handles, 'datasync').mockResolvedValue()
  vi.spyOn(handles, 'sync').mockResolvedValue()
  const bytes = Buffer.alloc(2 ** 20, 'x')
  const chunks = Array.from({ length: 130 }, () => ({ sha256: 'ab'.repeat(32), size: bytes.length }))
  const size = chunks.length * bytes.length
  await unpackChunkedFiles([{ name: 'disk', mode: 0o600, size, sha256: '', chunks }], async () => bytes, folder.path, {
    limits: { entries: 1, bytes: size, ratio: 1 },
    getFetchedSize: () => size,
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  expect(datasync).toHaveBeenCalledTimes(1)
})
