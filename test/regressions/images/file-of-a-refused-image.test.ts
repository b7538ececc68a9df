import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { buildIsoImage } from '../../support/disks/iso-image.ts'
import { test } from '../../support/harness.ts'
import { startFileServer } from '../../support/servers/file-server.ts'

test('the file of an image that cannot be registered is not left behind', async ({ call, folder, images, network }) => {
  network.close()
  await using server = await startFileServer()
  const iso = buildIsoImage(20)
  const other = {
    id: crypto.randomUUID(),
    name: 'debian',
    kind: 'iso',
    description: '',
    format: 'iso',
    sha256: 'a'.repeat(64),
    digest: 'a'.repeat(64),
    virtual_size: 2048,
    size: 2048,
    created_at: new Date().toISOString(),
    created_by: crypto.randomUUID(),
  } as const
  server.serve('/debian.iso', (_, response) => {
    // Somebody takes the name while the file is on its way.
    void images.records.add(other).then(() => response.end(iso))
  })
  const { status } = await call('POST', '/api/v1/images', {
    body: { name: 'Debian', url: `${server.url}/debian.iso` },
  })
  expect(status).toBe(409)
  expect(readdirSync(join(folder, 'state', 'images')).filter(name => name.endsWith('.iso'))).toEqual([])
  network.listen()
})
