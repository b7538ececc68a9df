import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { countingForksContract } from '../../contracts/counting-forks.ts'
import { createEmbeddedBench, readSerialLog as readEmbeddedLog } from '../../support/drivers/embedded-bench.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { readSerialLog } from '../../support/guests/serial.ts'

countingForksContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-embedded-'))
  const kernel = join(folder, 'kernel.bin')
  await writeFile(kernel, buildQuickGuest())
  const bench = createEmbeddedBench(join(folder, 'machines'))
  return {
    driver: () => bench.driver(),
    machine: name => ({ name, description: '', cpus: 1, memory: 16, disks: [{ size: 1 }], kernel }),
    serial: readEmbeddedLog,
    forksCanFork: true,
    close: () => rm(folder, { recursive: true }),
  }
})

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'on QEMU', () => {
  countingForksContract('qemu', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
    const disk = join(folder, 'boot.img')
    buildBootSectorDisk(disk)
    return {
      driver: () => createQemu(join(folder, 'machines')),
      machine: name => ({
        ...{ name, description: '', cpus: 1, memory: 16, disks: [{ path: disk }] },
        machine_type: 'q35',
      }),
      serial: readSerialLog,
      forksCanFork: false,
      close: () => rm(folder, { recursive: true }),
    }
  })
})
