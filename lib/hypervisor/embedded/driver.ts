import { availableParallelism } from 'node:os'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { createBaseDriver } from '../base-driver.ts'
import { checkChangeWhenStopped } from '../check-change.ts'
import type { Definition } from '../definition.ts'
import type { HypervisorDriver, MachineView } from '../driver.ts'
import { createMachineFolders } from '../files/machine-folders.ts'
import type { HostFileOpener } from '../files/open-machine-file.ts'
import { createScreenshots, requireScreenOn } from '../screenshots.ts'
import type { SerialPort } from '../serial-port.ts'
import { createStoppedView } from '../machine-views.ts'
import { cloneMachine } from './clone-machine.ts'
import { createDiskBases } from './disks/bases.ts'
import { createDiskClaims } from './disks/claims.ts'
import { type MachineDisk, openMachineDisk } from './disks/machine-disk.ts'
import { createForks } from './forks/forks.ts'
import { checkHardware } from './limits.ts'
import { createMachine, type Machine } from './machine.ts'
import { prepareDemo, prepareMachine } from './prepare-machine.ts'
import { exportEmbeddedMachine, validateImport } from './embedded-export.ts'
import { createProgramLoader } from './program.ts'
import { recoverMachine } from './recovery.ts'
import { createSerialPort } from './serial/port.ts'
import { createSnapshots } from './snapshots/snapshots.ts'

export interface EmbeddedDriver extends HypervisorDriver {
  /**
   * Opens the input of the guest's console. Throws `conflict` if the machine does not run; a write does so too once it has
   * stopped, and if the guest does not take what was written before.
   */
  openSerial(id: string): Promise<SerialPort>
}

interface Options {
  /** Contains one folder per machine. */
  readonly folder: string
  readonly startWorker: StartWorker
  /** Reads the WebAssembly program of v86. The driver calls it before its first machine runs. */
  readonly readProgram: () => Promise<Uint8Array<ArrayBuffer>>
  /** Maximum size of a guest's serial log in bytes. The rotated log may have as many. */
  readonly serialLogSize: number
  readonly hostFiles: HostFileOpener
  readonly log: Logger
}

/** Milliseconds to restore a machine at the start of the service, or to suspend all machines at its end. */
const transitionTimeout = 60_000
/** Milliseconds in which an emulator draws its screen. */
const screenshotTimeout = 10_000

/**
 * Creates the driver that needs no installed hypervisor: each running machine is a worker thread with v86, a PC emulator.
 * Its limits: 1 processor, 2 to 1024 MB of memory, a multiboot kernel or a Linux kernel for i386, at most 1 raw disk of up to 64 MB,
 * no network, no keyboard. Its VGA can be seen in pictures only.
 */
export const createEmbeddedDriver = (options: Options): EmbeddedDriver => {
  const { folder, startWorker, readProgram, serialLogSize, hostFiles, log } = options
  const folders = createMachineFolders(folder)
  const claims = createDiskClaims()
  const loadProgram = createProgramLoader(readProgram)
  const createFromView = (view: MachineView): Machine =>
    createMachine({
      view,
      folders,
      startWorker,
      loadProgram,
      hostFiles,
      claims,
      serialLogSize,
      log,
      onEvent(event) {
        // A fork that is being made is no machine yet.
        if (base.machines.has(view.id)) base.report(event)
      },
    })
  const createStopped = (definition: Definition): Machine =>
    createFromView(createStoppedView(definition, folders.home(definition.id)))
  const base = createBaseDriver({ folders, createMachine: createStopped })
  const bases = createDiskBases({
    getHome: folders.home,
    listUsed: id =>
      base.views().some(({ state }) => state === 'invalid')
        ? undefined
        : base
            .views()
            .filter(({ definition }) => definition.base === id)
            .flatMap(({ definition: { disks } }) => disks.flatMap(({ backing }) => backing ?? [])),
  })
  const screenshots = createScreenshots()
  const drawScreen = async (id: string): Promise<Uint8Array> => {
    const machine = base.requireMachine(id)
    const view = machine.view()
    requireScreenOn(view)
    using limit = createTimeLimit(screenshotTimeout, `The emulator of ${view.name} does not draw its screen.`)
    return await machine.takeScreenshot(limit.signal)
  }
  const forkParts = { folder, folders, bases, hostFiles, loadProgram, createMachine: createStopped, log }
  const forks = createForks({ ...forkParts, register: base.register })
  const copying = { bases, hostFiles, create: base.createPrepared }
  const snapshots = createSnapshots({ folders, loadProgram, copying, requireMachine: base.requireMachine, log })
  /** Returns the view of a machine. Throws `conflict` unless it is in one of the states that this kind of copy requires. */
  const requireState = (id: string, copy: string, ...states: readonly MachineView['state'][]): MachineView => {
    const view = base.requireMachine(id).view()
    if (!states.includes(view.state))
      throw new ServiceError('conflict', `${view.name} is ${view.state}; stop it, then ${copy} it.`)
    return view
  }
  const claimDisk = async (view: MachineView): Promise<void> => {
    await using disk = await openMachineDisk(view, hostFiles, 'read')
    if (disk) claims.claim(disk.file, view.id, view.name)
  }
  /** Reserves the disk of a machine that does not run, until disposed of. A suspended machine keeps its claim anyway. */
  const reserveDisk = ({ id, name, state }: MachineView, { file }: MachineDisk): Disposable | undefined => {
    if (state === 'stopped') return claims.claimForReading(file, id, name)
    claims.claim(file, id, name)
    return undefined
  }
  /** Runs `work` while the machine's disk is reserved: no machine runs with it or can start with it. Throws `conflict`. */
  const withDiskReserved = async <T>(view: MachineView, work: (disk: MachineDisk | undefined) => Promise<T>) => {
    await using disk = await openMachineDisk(view, hostFiles, 'read')
    using _reading = disk && claims.claimForReading(disk.file, view.id, view.name)
    return await work(disk)
  }

  /**
   * Suspends a machine at the end of the service. If that fails, kills it; the machine then has a problem at the next start.
   */
  const suspendForShutdown = async (machine: Machine, deadline: AbortSignal): Promise<void> => {
    try {
      await machine.suspendForShutdown(deadline)
    } catch (error) {
      const reason = deadline.aborted ? 'not saved in time' : `not saved: ${messageOf(error)}`
      log.error('Machine {name} could not be suspended and is cut off: {reason}', {
        name: machine.view().name,
        reason,
      })
      await machine.kill(`crashed: ${reason}`)
    }
  }

  const checkChange: HypervisorDriver['checkChange'] = (view, next) => {
    checkHardware(next)
    return checkChangeWhenStopped('embedded', ['cpus', 'memory'], view, next)
  }

  return {
    kind: 'embedded',
    features: { linkedClone: true, cloneRunning: false },
    platform: {
      hypervisorType: 'v86',
      acceleration: 'off',
      cpuType: 'x86',
      cpuMode: '32',
      networkCard: '',
    },
    async open(onEvent) {
      const hadForks = await forks.removeInterrupted()
      for (const found of await base.open(onEvent)) {
        const { view, resume } = await recoverMachine(folders, await snapshots.recover(found))
        const machine = base.register(createFromView(view))
        // A suspended machine keeps its claim. If its disk cannot be used, resume reports that.
        if (view.state === 'suspended') await claimDisk(view).catch(() => {})
        if (resume === undefined) continue
        await machine.restore(resume, AbortSignal.timeout(transitionTimeout)).catch((error: unknown) => {
          log.error('Machine {name} could not be resumed: {error}', { name: view.name, error: messageOf(error) })
        })
      }
      // The base images of forks that were removed.
      if (hadForks) for (const id of base.machines.keys()) await bases.deleteUnused(id).catch(() => {})
    },
    list: base.list,
    get: base.get,
    async run(id, verb, options) {
      // A forced stop may run beside a revert, and waits until that has replaced the files.
      if (!options.force) await snapshots.finishRevert(id, options.deadline)
      return base.requireMachine(id).run(verb, options)
    },
    create: async machine => base.createPrepared(await prepareMachine(machine, hostFiles)),
    createDemo: () => base.createPrepared(prepareDemo()),
    async clone(from, name, options) {
      await snapshots.finishRevert(from, options.deadline)
      const source = requireState(from, 'clone', 'stopped')
      return withDiskReserved(source, disk => cloneMachine(source, disk, name, options, copying))
    },
    async export(id, options) {
      await snapshots.finishRevert(id, options.deadline)
      const view = requireState(id, 'export', 'stopped', 'suspended')
      return exportEmbeddedMachine(view, options, { hostFiles, reserve: disk => reserveDisk(view, disk) })
    },
    import: (machine, populate) => base.import(machine, populate, validateImport),
    openAgent: async id => base.requireMachine(id).agentPort.require(),
    takeScreenshot: id => screenshots.take(id, () => drawScreen(id)),
    snapshots,
    forks: {
      fork: (id, newForks, deadline) => forks.fork(base.requireMachine(id), newForks, deadline),
      forkSnapshot: (id, snapshot, newForks, deadline) =>
        forks.forkSnapshot(base.requireMachine(id), snapshot, newForks, deadline),
    },
    checkChange,
    async configure(id, next) {
      checkChange(base.requireMachine(id).view(), next)
      return base.configure(id, next)
    },
    deleteSeed: base.deleteSeed,
    async remove(id) {
      const { state, name, definition } = base.requireView(id)
      if (state !== 'stopped' && state !== 'invalid')
        throw new ServiceError('conflict', `${name} is ${state}; stop it, then delete it.`)
      await base.remove(id)
      // The clone is gone. The next linked clone of its source tries again.
      if (definition.base !== undefined) await bases.deleteUnused(definition.base).catch(() => {})
    },
    async close(deadline = AbortSignal.timeout(transitionTimeout)) {
      const lastUsedFirst = base.machines
        .values()
        .toArray()
        .toSorted((a, b) => b.lastUsedAt() - a.lastUsedAt())
        .values()
      const save = async (): Promise<void> => {
        for (const machine of lastUsedFirst) await suspendForShutdown(machine, deadline)
      }
      // One per processor: more in parallel would only delay each of them.
      await Promise.all(Array.from({ length: availableParallelism() }, save))
    },
    async openSerial(id) {
      const machine = base.requireMachine(id)
      const { name, state } = machine.view()
      if (state !== 'running') throw new ServiceError('conflict', `${name} is ${state}, so it takes no input.`)
      return createSerialPort(machine.sendInput)
    },
  }
}
