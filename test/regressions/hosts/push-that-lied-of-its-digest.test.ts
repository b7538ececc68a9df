import { expect, test } from 'vitest'
import { type HostedPush, registerPushed } from '#lib/transfers/hosted/register-pushed.ts'

const host = { id: crypto.randomUUID(), name: 'bad', architecture: 'x86_64' }
const name = 'web-x86_64-1'

test.each(['', 'x', 'A'.repeat(64), `${'a'.repeat(64)}\n`])(
  'a host that says %j of the digest of its pack is refused as that host',
  async sha256 => {
    // The reply is judged before anything else of the push is used.
    const push = { name, request: { catalog_id: 'web' }, context: { catalog: {} } } as unknown as HostedPush
    const pushed = { pack_filename: `${name}.pdpack`, pack_sha256: sha256 } as Parameters<typeof registerPushed>[2]
    await expect(registerPushed(push, host, pushed, undefined, [])).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('The host bad says'),
    })
  },
)
