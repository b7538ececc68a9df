import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { openDriver as openRealDriver } from './open-driver.ts'

const refuse = async (): Promise<never> => {
  throw new ServiceError('unsupported', 'This build has no driver, so it runs no machines.')
}

/** The driver of a build without the endpoints of machines. It leaves the machines of the state folder alone. */
const noDriver: HypervisorDriver = {
  kind: 'none',
  features: { linkedClone: false, cloneRunning: false },
  platform: {
    hypervisorType: 'no driver',
    acceleration: 'off',
    cpuType: process.arch === 'arm64' ? 'arm' : 'x86',
    cpuMode: '64',
    networkCard: '',
  },
  async open() {},
  list: async () => [],
  get: async () => undefined,
  run: refuse,
  create: refuse,
  createDemo: refuse,
  clone: refuse,
  export: refuse,
  import: refuse,
  checkChange: () => 'now',
  configure: refuse,
  deleteSeed: refuse,
  remove: refuse,
  async close() {},
}

/** Takes the place of open-driver.ts in a build without the endpoints of machines and of transfers. */
export const openDriver: typeof openRealDriver = async () => ({
  driver: noDriver,
  demoKernel: undefined,
  conversionTools: undefined,
})
