import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { hypervisorContract, type Workbench } from '../../contracts/hypervisor.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { readSerialLog, typeOnSerialLine } from '../../support/guests/serial.ts'
import { rounds } from '../../support/rounds.ts'
import { until } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'on QEMU', () => {
  const createBench = async (machine_type: 'pc' | 'q35'): Promise<Workbench> => {
    const folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
    let disks = 0
    const bootDisk = (): string => {
      const path = join(folder, `boot${(disks += 1)}.img`)
      buildBootSectorDisk(path)
      return path
    }
    return {
      driver: () => createQemu(join(folder, 'machines')),
      machine: name => ({ name, description: '', cpus: 1, memory: 16, disks: [{ path: bootDisk() }], machine_type }),
      serial: readSerialLog,
      async ignorePowerButton(view) {
        await typeOnSerialLine(view, 'i')
        await until(async () => expect(await readSerialLog(view)).toMatch(/T .*i/s))
      },
      async kill(view) {
        process.kill(Number(await readFile(join(view.home, 'qemu.pid'), 'utf8')), 'SIGKILL')
      },
      corrupt: view => writeFile(join(view.home, 'machine.json'), '{'),
      close: () => rm(folder, { recursive: true }),
    }
  }

  // Older versions made machines of the type pc. Every run tries those in qemu-machines.test.ts.
  for (const type of rounds<readonly ('pc' | 'q35')[]>(['q35'], ['q35', 'pc']))
    hypervisorContract(`qemu, a guest that boots from its disk, on a ${type}`, () => createBench(type), {
      refusals: rounds(false, true),
    })
})
