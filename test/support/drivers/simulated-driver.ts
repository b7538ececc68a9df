import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import { importMachineFiles } from '#lib/hypervisor/files/import.ts'
import { applyChanges, type Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView, DriverEvent, StableState, Verb } from '#lib/hypervisor/driver.ts'
import { copyIfAttached, exportMachineFiles } from '#lib/hypervisor/files/export.ts'
import { createMachineFolders } from '#lib/hypervisor/files/machine-folders.ts'
import type { HostFileOpener } from '#lib/hypervisor/files/open-machine-file.ts'
import { createStoppedView } from '#lib/hypervisor/machine-views.ts'
import { advanceClock } from '#lib/hypervisor/uptime.ts'
import { anyFile } from '../host-files.ts'

/** The driver that function tests run on: machines in memory with the behaviour of the port, no guest, and tiny disks. */
export interface SimulatedDriver extends HypervisorDriver {
  /** Milliseconds that each call takes. */
  delay: number
  /** True if the guest ignores the power button. */
  ignoresPowerButton: boolean
  /** The error that the next calls fail with. */
  failure: Error | undefined
  /** Changes the state of a machine without a request and reports the event. */
  simulateChange(id: string, state: StableState, problem?: string): void
}

const endState: Readonly<Record<Verb, StableState | 'same'>> = {
  start: 'running',
  stop: 'stopped',
  restart: 'running',
  reset: 'same',
  pause: 'paused',
  suspend: 'suspended',
  resume: 'running',
}

/** Accepts raw disks of any size. */
const validate = async (definition: Definition, folder: string): Promise<Definition> => {
  const disks = definition.disks.map(async disk => {
    if (disk.format !== 'raw') throw new ServiceError('invalid', `${disk.path} is not raw.`)
    return { ...disk, size: (await stat(join(folder, disk.path))).size }
  })
  return { ...definition, disks: await Promise.all(disks) }
}

export const createSimulatedDriver = (folder: string, hostFiles: HostFileOpener = anyFile): SimulatedDriver => {
  const folders = createMachineFolders(folder)
  const views = new Map<string, MachineView>()
  let report: (event: DriverEvent) => void = () => {}

  const change = (id: string, state: StableState, booted = false, problem?: string): MachineView => {
    const { problem: _, ...before } = views.get(id)!
    const clock = advanceClock(before, before.state, state, Date.now(), booted)
    const view = { ...before, ...clock, state, ...(problem && { problem }) }
    views.set(id, view)
    return view
  }
  const add = (definition: Definition): MachineView => {
    const home = folders.home(definition.id)
    mkdirSync(home, { recursive: true })
    const view = createStoppedView(definition, home)
    views.set(view.id, view)
    return view
  }
  const simulateWork = async (deadline?: AbortSignal): Promise<void> => {
    if (driver.failure) throw driver.failure
    await wait(driver.delay, undefined, { ...(deadline && { signal: deadline }) }).catch(() => {
      throw deadline?.reason
    })
  }

  const driver: SimulatedDriver = {
    kind: 'qemu',
    delay: 1,
    ignoresPowerButton: false,
    failure: undefined,
    features: { hotplug: new Set(['name', 'description']), linkedClone: true, cloneRunning: false },
    platform: {
      hypervisorType: 'simulated',
      acceleration: 'off',
      cpuType: 'x86',
      cpuMode: '64',
      diskPort: 'ide:0',
      networkCard: 'e1000',
    },
    async open(onEvent) {
      report = onEvent
    },
    list: async () => [...views.values()],
    get: async id => views.get(id),
    async run(id, verb, { force, deadline }) {
      const { state } = views.get(id)!
      const graceful = (verb === 'stop' && !force) || verb === 'restart'
      if (graceful && driver.ignoresPowerButton)
        await new Promise((_, reject) => deadline.addEventListener('abort', () => reject(deadline.reason)))
      await simulateWork(deadline)
      const to = endState[verb]
      return change(id, to === 'same' ? state : to, ['start', 'restart', 'reset'].includes(verb))
    },
    async create(machine) {
      await simulateWork()
      const resolveHostFile = async (path: string): Promise<string> => {
        await using file = await hostFiles.open(path)
        return file.path
      }
      const disks = await Promise.all(
        machine.disks.map(async (disk, at) =>
          'path' in disk
            ? { path: await resolveHostFile(disk.path), size: 0, format: 'raw' as const }
            : { path: `disk${at}.img`, size: disk.size << 20, format: 'raw' as const },
        ),
      )
      for (const path of [machine.kernel, machine.initrd]) if (path !== undefined) await resolveHostFile(path)
      const networks = [{ mac: '52:54:00:00:00:01', mode: 'isolated' as const }]
      const view = add({ ...machine, id: randomUUID(), disks, networks, created_at: new Date().toISOString() })
      for (const { path } of disks) if (!isAbsolute(path)) writeFileSync(join(view.home, path), `disk of ${view.id}`)
      return view
    },
    createDemo: () => driver.create({ name: 'demo', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] }),
    async clone(from, name, { id = randomUUID(), linked, deadline, onProgress }) {
      onProgress(0.5)
      await simulateWork(deadline)
      onProgress(1)
      const { definition, home } = views.get(from)!
      const view = add({ ...definition, id, name, ...(linked && { base: from }) })
      for (const { path } of definition.disks) if (!isAbsolute(path)) cpSync(join(home, path), join(view.home, path))
      return view
    },
    async export(id, { staging, deadline, onProgress }) {
      await simulateWork(deadline)
      onProgress(1)
      const { definition, home } = views.get(id)!
      return exportMachineFiles({ definition, home, staging, deadline, hostFiles, selectCopy: copyIfAttached })
    },
    async import({ id, name }, populate) {
      await simulateWork()
      mkdirSync(folder, { recursive: true })
      return add(await folders.create(id, place => importMachineFiles(place, { id, name, populate, validate })))
    },
    async configure(id, changes) {
      await simulateWork()
      const before = views.get(id)!
      const definition = applyChanges(before.definition, changes)
      const view = { ...before, definition, name: definition.name }
      views.set(id, view)
      return view
    },
    async remove(id) {
      await simulateWork()
      if (!views.delete(id)) throw new ServiceError('not-found', 'gone')
    },
    async close() {},
    simulateChange(id, state, problem) {
      report({ view: change(id, state, false, problem), cause: problem ? 'crash' : 'guest' })
    },
  }
  return driver
}
