import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hypervisorContract } from '../../contracts/hypervisor.ts'
import { createSimulatedDriver } from '../../support/drivers/simulated-driver.ts'

hypervisorContract('simulated', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-simulated-'))
  const driver = createSimulatedDriver(folder)
  return {
    driver: () => driver,
    machine: name => ({ name, description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] }),
    async ignorePowerButton() {
      driver.ignoresPowerButton = true
    },
    async corrupt(view) {
      driver.simulateChange(view.id, 'invalid', 'its definition cannot be read')
    },
    close: () => rm(folder, { recursive: true }),
  }
})
