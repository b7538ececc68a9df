import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { newFolder } from '../../support/folder.ts'

/**
 * Ends as a QEMU whose image is locked: after the service and the recorder were asked to connect to it. A process that it leaves
 * behind keeps the connection of the service open for a moment longer.
 */
const program = `#!${process.execPath}
const { spawn } = require('node:child_process')
require('node:net').createServer(socket => {
  setTimeout(() => {
    spawn('sleep', ['0.4'], { stdio: [socket, 'ignore', 'ignore'], detached: true }).once('spawn', () => {
      process.stderr.write('Is another process using the image [disk.qcow2]?\\n')
      process.exit(1)
    })
  }, 1_000)
}).listen('run/qmp.sock')
`

test.skipIf(withoutQemu)('a start tells why QEMU has ended, whatever else was waited for', async () => {
  using folder = newFolder()
  const path = join(folder.path, 'qemu.cjs')
  writeFileSync(path, program)
  chmodSync(path, 0o755)
  await using bench = await openQemuBench({ program: path })
  const { id } = await bench.create('locked')
  await expect(bench.run(id, 'start')).rejects.toMatchObject({
    fault: 'conflict',
    message: expect.stringContaining('disk.qcow2 is in use by another machine'),
  })
})
