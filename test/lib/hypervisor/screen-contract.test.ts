import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { screenContract, screenshotContract } from '../../contracts/screen.ts'
import { createEmbeddedBench } from '../../support/drivers/embedded-bench.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { buildScreenDisk } from '../../support/guests/screen-guest.ts'
import { buildScreenKernel } from '../../support/guests/screen-kernel.ts'

const createQemuBench = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
  const path = join(folder, 'boot.img')
  buildScreenDisk(path)
  return {
    driver: () => createQemu(join(folder, 'machines')),
    machine: (name: string) => ({ name, description: '', cpus: 1, memory: 32, disks: [{ path }], display: true }),
    close: () => rm(folder, { recursive: true }),
  }
}

screenshotContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-embedded-'))
  const kernel = join(folder, 'kernel.bin')
  await writeFile(kernel, buildScreenKernel())
  const bench = createEmbeddedBench(join(folder, 'machines'))
  return {
    driver: () => bench.driver(),
    machine: name => ({ name, description: '', cpus: 1, memory: 16, disks: [], kernel }),
    close: () => rm(folder, { recursive: true }),
  }
})

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'on QEMU', () => {
  screenshotContract('qemu', createQemuBench)
  screenContract('qemu', createQemuBench)
})
