import { randomUUID } from 'node:crypto'
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { type Duplex, PassThrough } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import type { Agent } from '#lib/hypervisor/agent/agent.ts'
import { importMachineFiles } from '#lib/hypervisor/files/import.ts'
import { cloneDefinition, type Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView, DriverEvent, StableState, Verb } from '#lib/hypervisor/driver.ts'
import { checkChangeWhenStopped } from '#lib/hypervisor/check-change.ts'
import { copyIfAttached, exportMachineFiles } from '#lib/hypervisor/files/export.ts'
import { createMachineFolders } from '#lib/hypervisor/files/machine-folders.ts'
import type { HostFileOpener } from '#lib/hypervisor/files/open-machine-file.ts'
import { createStoppedView } from '#lib/hypervisor/machine-views.ts'
import { deleteSeed, writeSeed } from '#lib/hypervisor/seed/seed-files.ts'
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
  /** The errors that the next starts or deletions fail with. */
  readonly failures: { start?: Error | undefined; remove?: Error | undefined }
  /** The guest agent of all machines; undefined while no guest has one. */
  agent: Agent | undefined
  /** Replaces the view of a machine and reports the event. */
  simulateView(view: MachineView): void
  /** Connects to a port of a guest; by default the guest echoes what it gets. */
  connectToGuest: (port: number) => Duplex
  /** Connects to the screen of a guest; by default the guest echoes what it gets. */
  connectToScreen: () => Duplex
  /** Receives what is sent to the serial line of a guest; by default the guest echoes it to the log in its folder. */
  onSerialInput: (home: string, bytes: Uint8Array) => void
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
    failures: {},
    agent: undefined,
    connectToGuest: () => new PassThrough(),
    connectToScreen: () => new PassThrough(),
    onSerialInput: (home, bytes) => appendFileSync(join(home, 'serial.log'), bytes),
    features: { linkedClone: true, cloneRunning: false },
    platform: {
      hypervisorType: 'simulated',
      acceleration: 'off',
      cpuType: 'x86',
      cpuMode: '64',
      networkCard: 'e1000',
    },
    async open(onEvent) {
      report = onEvent
    },
    list: async () => [...views.values()],
    get: async id => views.get(id),
    async run(id, verb, { force, deadline }) {
      const { state } = views.get(id)!
      if (verb === 'start' && driver.failures.start) throw driver.failures.start
      const graceful = (verb === 'stop' && !force) || verb === 'restart'
      if (graceful && driver.ignoresPowerButton)
        await new Promise((_, reject) => deadline.addEventListener('abort', () => reject(deadline.reason)))
      await simulateWork(deadline)
      const to = endState[verb]
      return change(id, to === 'same' ? state : to, ['start', 'restart', 'reset'].includes(verb))
    },
    async create({ seed, ...machine }) {
      await simulateWork()
      const resolveHostFile = async (path: string): Promise<string> => {
        await using file = await hostFiles.open(path)
        return file.path
      }
      const disks = await Promise.all(
        machine.disks.map(async (disk, at) =>
          'path' in disk
            ? { path: await resolveHostFile(disk.path), size: 0, format: 'raw' as const }
            : { path: `disk${at}.img`, size: disk.size * 2 ** 20, format: 'raw' as const },
        ),
      )
      for (const path of [machine.kernel, machine.initrd]) if (path !== undefined) await resolveHostFile(path)
      const networks = [...(machine.networks ?? [{ mac: '52:54:00:00:00:01', mode: 'isolated' }])]
      const { cdroms: _, networks: __, ...members } = machine
      const { id = randomUUID() } = machine
      const view = add({ ...members, id, disks, networks, created_at: new Date().toISOString() })
      for (const { path } of disks) if (!isAbsolute(path)) writeFileSync(join(view.home, path), `disk of ${view.id}`)
      if (seed) await writeSeed(view.home, seed, view)
      return view
    },
    deleteSeed: async id => deleteSeed(views.get(id)!.home),
    createDemo: () => driver.create({ name: 'demo', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] }),
    async clone(from, name, { id = randomUUID(), owner, linked, deadline, onProgress }) {
      onProgress(0.5)
      await simulateWork(deadline)
      onProgress(1)
      const { definition, home } = views.get(from)!
      const view = add({ ...cloneDefinition(definition, { id, name, owner }), ...(linked && { base: from }) })
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
    checkChange: (view, next) =>
      checkChangeWhenStopped('simulated', ['cpus', 'memory', 'networks', 'boot_order'], view, next),
    async configure(id, definition) {
      await simulateWork()
      const view = { ...views.get(id)!, definition, name: definition.name }
      views.set(id, view)
      return view
    },
    async setForwards(id, forwards) {
      await simulateWork()
      const before = views.get(id)!
      const view = { ...before, definition: { ...before.definition, forwards: [...forwards] } }
      views.set(id, view)
      return view
    },
    async openTunnel(_, port) {
      await simulateWork()
      return driver.connectToGuest(port)
    },
    async openScreen(id) {
      const { name, state } = views.get(id)!
      if (state !== 'running') throw new ServiceError('conflict', `${name} is ${state}, so its screen shows nothing.`)
      return driver.connectToScreen()
    },
    async openSerial(id) {
      const { home, name, state } = views.get(id)!
      if (state !== 'running') throw new ServiceError('conflict', `${name} is ${state}, so it takes no input.`)
      return { write: bytes => driver.onSerialInput(home, bytes), close() {} }
    },
    async remove(id) {
      await simulateWork()
      if (driver.failures.remove) throw driver.failures.remove
      if (!views.delete(id)) throw new ServiceError('not-found', 'gone')
    },
    async openAgent() {
      if (!driver.agent) throw new ServiceError('conflict', 'No guest agent answers: install qemu-guest-agent.')
      return driver.agent
    },
    async close() {},
    simulateView(view) {
      views.set(view.id, view)
      report({ view, cause: 'guest' })
    },
    simulateChange(id, state, problem) {
      report({ view: change(id, state, false, problem), cause: problem ? 'crash' : 'guest' })
    },
  }
  return driver
}
