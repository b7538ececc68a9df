import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { startPasst } from '#lib/hypervisor/qemu/network/passt.ts'
import { newFolder } from '../../support/folder.ts'
import { withoutPasst } from '../../support/network/requirements.ts'

/** Makes the file of its socket, and listens there half a second later. */
const program = `#!/usr/bin/perl
use Socket;
my $socket;
while (my $name = shift) { $socket = shift if $name eq '--socket' }
socket(SERVER, AF_UNIX, SOCK_STREAM, 0) or die;
bind(SERVER, sockaddr_un($socket)) or die;
select(undef, undef, undef, 0.5);
listen(SERVER, 1) or die;
accept(CLIENT, SERVER);
sleep 60;
`

afterEach(() => void vi.unstubAllEnvs())

test.skipIf(withoutPasst !== undefined)(
  'a passt is ready when it listens, not when the file of its socket is there',
  async () => {
    using folder = newFolder()
    const home = join(folder.path, 'machine')
    mkdirSync(home)
    writeFileSync(join(folder.path, 'passt'), program, { mode: 0o755 })
    vi.stubEnv('PATH', `${folder.path}:${process.env['PATH']}`)
    using cleanUp = new DisposableStack()
    const passt = await startPasst('net1', {
      id: crypto.randomUUID(),
      home,
      account: { user: 'root', uid: 0, gid: 0 },
      environment: { PATH: process.env['PATH'] },
      reachesLoopback: false,
    })
    cleanUp.defer(() => passt.kill())
    const socket = connect(join(home, passt.path))
    await expect(once(socket, 'connect')).resolves.toBeDefined()
    socket.destroy()
    passt.kill()
  },
)
