import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { createQemuDriver } from '#lib/hypervisor/qemu/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { logOf } from '#lib/platform/log.ts'
import { hypervisorContract } from '../../contracts/hypervisor.ts'
import { buildBootSectorDisk } from '../../support/boot-sector.ts'
import { withoutQemu } from '../../support/qemu.ts'
import { serialOf, typeInto } from '../../support/serial.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'on QEMU', () => {
  hypervisorContract('qemu, a guest that boots from its disk', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
    const programs = (await findQemu())!
    let disks = 0
    const bootDisk = (): string => {
      const path = join(folder, `boot${(disks += 1)}.img`)
      buildBootSectorDisk(path)
      return path
    }
    return {
      driver: () => createQemuDriver({ folder: join(folder, 'machines'), programs, log: logOf('test') }),
      machine: name => ({ name, description: '', cpus: 1, memory: 16, disks: [{ path: bootDisk() }] }),
      serial: serialOf,
      async ignorePowerButton(view) {
        await typeInto(view, 'i')
        while (!/T .*i/s.test(await serialOf(view))) await new Promise(resolve => setTimeout(resolve, 20))
      },
      async kill(view) {
        process.kill(Number(await readFile(join(view.home, 'run', 'pid'), 'utf8')), 'SIGKILL')
      },
      corrupt: view => writeFile(join(view.home, 'machine.json'), '{'),
      close: () => rm(folder, { recursive: true }),
    }
  })
})
