import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import { adoptFiles } from '#lib/hypervisor/adopting.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView, Seen, StableState, Verb } from '#lib/hypervisor/driver.ts'
import { copyAttached, lendFiles } from '#lib/hypervisor/exporting.ts'
import { createMachineFolders } from '#lib/hypervisor/machine-folders.ts'
import { tick } from '#lib/hypervisor/uptime.ts'

/** The driver that function tests run on: machines in memory with the behaviour of the port, no guest, and tiny disks. */
export interface SimulatedDriver extends HypervisorDriver {
  /** Milliseconds that each call takes; a call can be held by making this long. */
  delay: number
  /** The guest takes no notice of the power button. */
  ignoresPowerButton: boolean
  /** The next calls fail with this. */
  failure: Error | undefined
  /** Something happens to a machine that nobody asked for. */
  happen(id: string, state: StableState, problem?: string): void
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

/** Takes raw disks of any size. */
const judge = async (definition: Definition, folder: string): Promise<Definition> => {
  const disks = definition.disks.map(async disk => {
    if (disk.format !== 'raw') throw new ServiceError('invalid', `${disk.path} is not raw.`)
    return { ...disk, size: (await stat(join(folder, disk.path))).size }
  })
  return { ...definition, disks: await Promise.all(disks) }
}

export const createSimulatedDriver = (folder: string): SimulatedDriver => {
  const folders = createMachineFolders(folder)
  const views = new Map<string, MachineView>()
  let report: (what: Seen) => void = () => {}

  const change = (id: string, state: StableState, booted = false, problem?: string): MachineView => {
    const { problem: _, ...before } = views.get(id)!
    const clock = tick(before, before.state, state, Date.now(), booted)
    const view = { ...before, ...clock, state, ...(problem && { problem }) }
    views.set(id, view)
    return view
  }
  const add = (definition: Definition): MachineView => {
    const home = folders.home(definition.id)
    mkdirSync(home, { recursive: true })
    const { id, name } = definition
    const view: MachineView = {
      id,
      name,
      state: 'stopped',
      definition,
      home,
      addresses: [],
      since: Date.now(),
      ranFor: 0,
    }
    views.set(id, view)
    return view
  }
  const work = async (deadline?: AbortSignal): Promise<void> => {
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
    async open(seen) {
      report = seen
    },
    list: async () => [...views.values()],
    get: async id => views.get(id),
    async run(id, verb, { force, deadline }) {
      const { state } = views.get(id)!
      const graceful = (verb === 'stop' && !force) || verb === 'restart'
      if (graceful && driver.ignoresPowerButton)
        await new Promise((_, reject) => deadline.addEventListener('abort', () => reject(deadline.reason)))
      await work(deadline)
      const to = endState[verb]
      return change(id, to === 'same' ? state : to, ['start', 'restart', 'reset'].includes(verb))
    },
    async create(machine) {
      await work()
      const disks = machine.disks.map((disk, at) =>
        'path' in disk
          ? { path: disk.path, size: 0, format: 'raw' as const }
          : { path: `disk${at}.img`, size: disk.size << 20, format: 'raw' as const },
      )
      const networks = [{ mac: '52:54:00:00:00:01' }]
      const view = add({ ...machine, id: randomUUID(), disks, networks, created_at: new Date().toISOString() })
      for (const { path } of disks) if (!isAbsolute(path)) writeFileSync(join(view.home, path), `disk of ${view.id}`)
      return view
    },
    createDemo: () => driver.create({ name: 'demo', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] }),
    async clone(id, name, { linked, deadline, progress }) {
      progress(0.5)
      await work(deadline)
      progress(1)
      const { definition, home } = views.get(id)!
      const view = add({ ...definition, id: randomUUID(), name, ...(linked && { base: id }) })
      for (const { path } of definition.disks) if (!isAbsolute(path)) cpSync(join(home, path), join(view.home, path))
      return view
    },
    async export(id, { staging, deadline, progress }) {
      await work(deadline)
      progress(1)
      const { definition, home } = views.get(id)!
      return lendFiles({ definition, home, staging, deadline, copy: copyAttached })
    },
    async adopt({ id, name }, fill) {
      await work()
      mkdirSync(folder, { recursive: true })
      return add(await folders.create(id, place => adoptFiles(place, { id, name, fill, judge })))
    },
    async configure(id, changes) {
      await work()
      const before = views.get(id)!
      const definition = { ...before.definition, ...changes }
      const view = { ...before, definition, name: definition.name }
      views.set(id, view)
      return view
    },
    async remove(id) {
      await work()
      if (!views.delete(id)) throw new ServiceError('not-found', 'gone')
    },
    async close() {},
    happen(id, state, problem) {
      report({ view: change(id, state, false, problem), cause: problem ? 'crash' : 'guest' })
    },
  }
  return driver
}
