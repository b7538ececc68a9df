import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { walkThrough } from '#build/walk.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { findDebian } from '../support/guests/debian.ts'
import { rangesOf, startFileServer } from '../support/servers/file-server.ts'

const debian = withoutQemu ? 'QEMU is not installed' : await findDebian()

test.skipIf(typeof debian === 'string')(
  typeof debian === 'string' ? debian : 'docs/guests.md leads from npm start to ssh into Debian, as it is written',
  async () => {
    if (typeof debian === 'string') throw new Error(debian)
    await using server = await startFileServer()
    // In place of what Debian publishes, so that no other computer is needed.
    server.serve('/debian.qcow2', rangesOf(readFileSync(debian.disk)))
    const env = { IMAGE: `${server.url}/debian.qcow2`, VMHOST_OUTGOING_ADDRESSES: '127.0.0.1' }
    const { mistakes } = await walkThrough(readFileSync('docs/guests.md', 'utf8'), { env, timeout: 25 * 60_000 })
    expect(mistakes.join('\n')).toBe('')
  },
)
