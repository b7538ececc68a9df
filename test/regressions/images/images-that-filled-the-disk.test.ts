import { readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { type Call, test as base } from '../../support/harness.ts'
import { type FileServer, startFileServer } from '../../support/servers/file-server.ts'

const MB = 2 ** 20

/** A service whose state is on a disk of 160 MB, of which 8 stay free. */
const test = base.extend<{ server: FileServer; folder: string }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  folder: async ({}, use) => {
    using disk = newSmallDisk(160)
    await use(disk.path)
  },
  server: async ({ network }, use) => {
    network.close()
    await using server = await startFileServer()
    await use(server)
    network.listen()
  },
})
const free = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
const put = (call: Call, name: string, start: number) =>
  call('PUT', `/api/v1/images/${name}/upload`, {
    body: Buffer.alloc(16 * MB),
    headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes ${start}-${start + 16 * MB - 1}/*` },
  })

describe.skipIf(!canMount)(canMount ? 'a disk on which machines write too' : 'this user may not mount', () => {
  test('is not filled by a pull of unknown size, which ends and leaves nothing', async ({ call, server, folder }) => {
    let least = Infinity
    server.serve('/endless.img', (_, response) => {
      const send = setInterval(() => {
        response.write(Buffer.alloc(4 * MB))
        least = Math.min(least, free(folder))
      }, 5)
      response.once('close', () => clearInterval(send))
    })
    const { status, body } = await call('POST', '/api/v1/images', {
      body: { name: 'endless', url: `${server.url}/endless.img` },
    })
    expect([status, body.message]).toEqual([507, expect.stringMatching(/stay free for the machines/)])
    expect(least).toBeGreaterThan(0)
    expect(readdirSync(join(folder, 'state', 'images', 'work'))).toEqual([])
  })

  test('is not filled by uploads', async ({ call, folder }) => {
    const statuses: number[] = []
    for (let at = 0; at < 11; at += 1) statuses.push((await put(call, 'large', at * 16 * MB)).status)
    expect(statuses).toContain(507)
    expect(free(folder)).toBeGreaterThan(8 * MB)
  })
})
