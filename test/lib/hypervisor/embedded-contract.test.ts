import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hypervisorContract, type Workbench } from '../../contracts/hypervisor.ts'
import { createEmbeddedBench } from '../../support/drivers/embedded-bench.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { rounds } from '../../support/rounds.ts'

const createBench = async (): Promise<Workbench> => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-embedded-'))
  const kernel = join(folder, 'kernel.bin')
  await writeFile(kernel, buildQuickGuest())
  const bench = createEmbeddedBench(join(folder, 'machines'))
  return {
    driver: () => bench.driver(),
    machine: name => ({ name, description: '', cpus: 1, memory: 16, disks: [{ size: 1 }], kernel }),
    serial: view => readFile(join(view.home, 'serial.log'), 'latin1'),
    ignorePowerButton: view => bench.ignoreShutdownRequests(view),
    kill: view => bench.kill(view.id),
    corrupt: view => writeFile(join(view.home, 'machine.json'), '{'),
    close: () => rm(folder, { recursive: true }),
  }
}

hypervisorContract('embedded, with a guest', createBench, { refusals: rounds(false, true) })
