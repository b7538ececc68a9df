import { mkdirSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDownloads } from '#lib/transfers/download/downloads.ts'
import { openRangeDownload } from '#lib/transfers/download/range-download.ts'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import { newFolder } from '../../support/folder.ts'
import { packSource } from '../../support/pack-source.ts'

/** The files below a folder that this process has open. */
const openIn = (folder: string): string[] =>
  readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      return []
    }
  })

const how = () => ({ signal: new AbortController().signal, onProgress: () => {} })

test.runIf(process.platform === 'linux')(
  'a download that cannot go on with what is there has nothing open',
  async () => {
    using folder = newFolder()
    // What the journal of the earlier try is cannot be read.
    mkdirSync(join(folder.path, 'pieces'))
    const { source } = packSource(Buffer.alloc(1000), undefined)
    await expect(openRangeDownload(source, folder.path, how())).rejects.toThrow('EISDIR')
    expect(openIn(folder.path)).toEqual([])
  },
)

test('and leaves nothing that would stop the next one', async () => {
  using folder = newFolder()
  const folders = await openWorkFolders(folder.path)
  const { source } = packSource(Buffer.alloc(1000), undefined)
  const work = await folders.open('pull', source.origin, source.sha256!)
  mkdirSync(join(work, 'pieces'))
  const downloads = createDownloads(folders)
  await expect(downloads.leasePack(source, how())).rejects.toThrow('EISDIR')
  expect(readdirSync(folder.path)).toEqual([])
  await using lease = await downloads.leasePack(source, how())
  const parts: Uint8Array[] = []
  for await (const part of lease.stream()) parts.push(part)
  expect(Buffer.concat(parts)).toHaveLength(1000)
})
