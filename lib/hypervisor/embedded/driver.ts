import { availableParallelism } from 'node:os'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import { createBaseDriver } from '../base-driver.ts'
import { applyChanges } from '../definition.ts'
import type { HypervisorDriver, MachineView } from '../driver.ts'
import { createMachineFolders } from '../files/machine-folders.ts'
import type { HostFileOpener } from '../files/open-machine-file.ts'
import { createStoppedView } from '../machine-views.ts'
import { createDiskClaims } from './disk-claims.ts'
import { openMachineDisk } from './launch.ts'
import { checkHardware } from './limits.ts'
import { createMachine, type Machine } from './machine.ts'
import { prepareClone, prepareDemo, prepareMachine } from './prepare-machine.ts'
import { exportEmbeddedMachine, validateImport } from './embedded-export.ts'
import { createProgramLoader } from './program.ts'
import { recoverMachine } from './recovery.ts'

export interface EmbeddedDriver extends HypervisorDriver {
  /** Sends text to the guest's serial line. Throws `conflict` when the machine does not run. */
  sendInput(id: string, text: string): void
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

/**
 * Creates the driver that needs no installed hypervisor: each running machine is a worker thread with v86, a PC emulator.
 * Its limits: 1 processor, 2 to 1024 MB of memory, a multiboot kernel, at most 1 raw disk of up to 64 MB, no network.
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
      onEvent: base.report,
    })
  const base = createBaseDriver({
    folders,
    createMachine: definition => createFromView(createStoppedView(definition, folders.home(definition.id))),
  })
  /** Returns the view of a machine. Throws `conflict` unless it is in one of the states that this kind of copy requires. */
  const requireState = (id: string, copy: string, ...states: readonly MachineView['state'][]): MachineView => {
    const view = base.requireMachine(id).view()
    if (!states.includes(view.state))
      throw new ServiceError('conflict', `${view.name} is ${view.state}; stop it, then ${copy} it.`)
    return view
  }
  const claimDisk = async (view: MachineView): Promise<void> => {
    await using disk = await openMachineDisk(view, hostFiles, 'read')
    if (disk) claims.claim(disk, view.id, view.name)
  }
  /** Runs `work` while the machine's disk is reserved: no machine runs with it or can start with it. Throws `conflict`. */
  const withDiskReserved = async <T>(view: MachineView, work: () => Promise<T>) => {
    await using disk = await openMachineDisk(view, hostFiles, 'read')
    using _reading = disk && claims.claimForReading(disk, view.id, view.name)
    return await work()
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

  return {
    kind: 'embedded',
    features: { hotplug: new Set(['name', 'description']), linkedClone: false, cloneRunning: false },
    platform: {
      hypervisorType: 'v86',
      acceleration: 'off',
      cpuType: 'x86',
      cpuMode: '32',
      diskPort: 'ide:0',
      networkCard: '',
    },
    async open(onEvent) {
      for (const found of await base.open(onEvent)) {
        const { view, resume } = await recoverMachine(folders, found)
        const machine = base.register(createFromView(view))
        // A suspended machine keeps its claim. If its disk cannot be used, resume reports that.
        if (view.state === 'suspended') await claimDisk(view).catch(() => {})
        if (resume === undefined) continue
        await machine.restore(resume, AbortSignal.timeout(transitionTimeout)).catch((error: unknown) => {
          log.error('Machine {name} could not be resumed: {error}', { name: view.name, error: messageOf(error) })
        })
      }
    },
    list: base.list,
    get: base.get,
    run: (id, verb, options) => base.requireMachine(id).run(verb, options),
    create: async machine => base.createPrepared(await prepareMachine(machine, hostFiles)),
    createDemo: () => base.createPrepared(prepareDemo()),
    async clone(from, name, { id = crypto.randomUUID(), linked, deadline, onProgress }) {
      if (linked) throw new ServiceError('unsupported', 'Linked clones are unsupported by the embedded driver.')
      const source = requireState(from, 'clone', 'stopped')
      const { definition, populate } = prepareClone(source, { id, name }, { hostFiles, deadline, onProgress })
      return withDiskReserved(source, () =>
        base.createPrepared({
          definition,
          async populate(folder) {
            await abortableAfterGrace(deadline, populate(folder))
            // Last chance to give up: the clone is not published yet.
            deadline.throwIfAborted()
          },
        }),
      )
    },
    export: async (id, options) =>
      exportEmbeddedMachine(requireState(id, 'export', 'stopped', 'suspended'), options, { claims, hostFiles }),
    import: (machine, populate) => base.import(machine, populate, validateImport),
    async configure(id, changes) {
      const { definition, name, state } = base.requireMachine(id).view()
      if (state !== 'stopped' && (changes.cpus !== undefined || changes.memory !== undefined))
        throw new ServiceError('conflict', `${name} is ${state}; stop it to change its processors or memory.`)
      checkHardware(applyChanges(definition, changes))
      return base.configure(id, changes)
    },
    async remove(id) {
      const { state, name } = base.requireView(id)
      if (state !== 'stopped' && state !== 'invalid')
        throw new ServiceError('conflict', `${name} is ${state}; stop it, then delete it.`)
      await base.remove(id)
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
    sendInput: (id, text) => base.requireMachine(id).sendInput(text),
  }
}
