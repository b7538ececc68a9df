import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { forkContract } from '../../contracts/forks.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { getSmallLinux, withoutLinux } from '../../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../../support/guests/serial-shell.ts'
import { until } from '../../support/waiting.ts'

const missing = withoutQemu ? 'QEMU is not installed' : withoutLinux

describe.skipIf(missing !== undefined)(missing ?? 'on QEMU', () => {
  forkContract('qemu', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vmhost-forks-'))
    return {
      driver: () => createQemu(join(folder, 'machines')),
      machine(name) {
        const { kernel, initrd, cmdline } = getSmallLinux()
        return { name, description: '', cpus: 1, memory: 128, disks: [{ size: 16 }], kernel, initrd, cmdline }
      },
      async waitForGuest(view) {
        await waitForSerial((await view())!, /GUEST:READY/)
        await until(async () => expect((await view())?.guest).toBeDefined())
      },
      waitForReady: view => until(async () => expect(await view()).toMatchObject({ forkReady: true })),
      run: async (view, command) => (await runOnSerialLine(view, command)).output,
      close: () => rm(folder, { recursive: true }),
    }
  })
})
