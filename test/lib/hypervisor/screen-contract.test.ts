import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { screenContract, screenshotContract } from '../../contracts/screen.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { buildScreenDisk } from '../../support/guests/screen-guest.ts'

const createBench = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
  const path = join(folder, 'boot.img')
  buildScreenDisk(path)
  return {
    driver: () => createQemu(join(folder, 'machines')),
    machine: (name: string) => ({ name, description: '', cpus: 1, memory: 32, disks: [{ path }], display: true }),
    close: () => rm(folder, { recursive: true }),
  }
}

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'on QEMU', () => {
  screenshotContract('qemu', createBench)
  screenContract('qemu', createBench)
})
