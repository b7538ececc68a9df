import { messageOf, ServiceError } from '#lib/errors.ts'
import { isSystemError } from '#lib/platform/files.ts'
import type { Log } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { adoptFiles } from '../adopting.ts'
import type { Definition } from '../definition.ts'
import type { HypervisorDriver, MachineView, Seen } from '../driver.ts'
import { createMachineFolders } from '../machine-folders.ts'
import { createDiskClaims } from './disk-claims.ts'
import { diskOf } from './launch.ts'
import { checkHardware } from './limits.ts'
import { createMachine, type Machine } from './machine.ts'
import { type Draft, draftClone, draftDemo, draftMachine } from './new-machine.ts'
import { exportFiles, judgePacked } from './packed.ts'
import { recover } from './recovery.ts'

export interface EmbeddedDriver extends HypervisorDriver {
  /** Sends text to the guest's serial line. Throws `conflict` when the machine does not run. */
  type(id: string, text: string): void
}

interface Options {
  /** Takes one folder per machine. */
  readonly folder: string
  readonly startWorker: StartWorker
  readonly log: Log
}

/** Milliseconds in which a machine is brought back at the start of the service or put aside at its end. */
const limit = 60_000

/**
 * The driver that needs nothing installed: each running machine is v86, an emulator of a PC, in a thread of its own.
 * Its limits: 1 processor, 2 to 1024 MB of memory, a multiboot kernel, at most 1 raw disk of up to 64 MB, no network.
 */
export const createEmbeddedDriver = ({ folder, startWorker, log }: Options): EmbeddedDriver => {
  const folders = createMachineFolders(folder)
  const claims = createDiskClaims()
  const machines = new Map<string, Machine>()
  /** Machines whose definition cannot be read: they can be looked at and removed. */
  const invalid = new Map<string, MachineView>()
  let report: (what: Seen) => void = () => {}

  const find = (id: string): Machine => {
    const machine = machines.get(id)
    if (machine) return machine
    const view = invalid.get(id)
    if (view) throw new ServiceError('conflict', `${view.name} is invalid: ${view.problem}. It can only be deleted.`)
    throw new ServiceError('not-found', `There is no machine with the id ${id}.`)
  }
  const know = (view: MachineView): Machine => {
    const machine = createMachine({ view, folders, startWorker, claims, log, report: what => report(what) })
    machines.set(view.id, machine)
    return machine
  }
  const create = async (
    id: string,
    name: string,
    fill: (folder: string) => Promise<Definition>,
  ): Promise<MachineView> => {
    const definition = await folders.create(id, fill).catch((error: unknown) => {
      if (!isSystemError(error, 'ENOSPC')) throw error
      throw new ServiceError('no-space', `The host has no space left for the files of ${name}.`, { cause: error })
    })
    const home = folders.home(id)
    return know({ id, name, state: 'stopped', definition, home, addresses: [], since: Date.now(), ranFor: 0 }).view()
  }
  const make = ({ definition, fill }: Draft): Promise<MachineView> =>
    create(definition.id, definition.name, async folder => {
      await fill(folder)
      return definition
    })
  /** The machine, which must be in one of these states to be copied in a way. */
  const still = (id: string, copy: string, ...states: readonly MachineView['state'][]): MachineView => {
    const view = find(id).view()
    if (!states.includes(view.state))
      throw new ServiceError('conflict', `${view.name} is ${view.state}; stop it, then ${copy} it.`)
    return view
  }
  /** Does `work` while no machine can start with this machine's disk, and none runs with it. */
  const withDiskStill = async <T>({ id, name }: MachineView, disk: string | undefined, work: () => Promise<T>) => {
    if (disk !== undefined) await claims.take(disk, id, name)
    try {
      return await work()
    } finally {
      claims.release(id)
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
    async open(seen) {
      report = seen
      for (const found of await folders.open()) {
        const { view, resume } = await recover(folders, found)
        if (view.state === 'invalid') {
          invalid.set(view.id, view)
          continue
        }
        const machine = know(view)
        const disk = diskOf(view)
        // A suspended machine keeps its disk; where that is missing, resuming says so.
        if (view.state === 'suspended' && disk !== undefined)
          await claims.take(disk, view.id, view.name).catch(() => {})
        if (resume === undefined) continue
        await machine.restore(resume, AbortSignal.timeout(limit)).catch((error: unknown) => {
          log.error('Machine {name} could not be resumed: {error}', { name: view.name, error: messageOf(error) })
        })
      }
    },
    list: async () => [...machines.values().map(machine => machine.view()), ...invalid.values()],
    get: async id => machines.get(id)?.view() ?? invalid.get(id),
    run: (id, verb, how) => find(id).run(verb, how),
    create: async machine => make(await draftMachine(machine)),
    createDemo: () => make(draftDemo()),
    async clone(id, name, { linked, deadline, progress }) {
      if (linked) throw new ServiceError('unsupported', 'Linked clones are unsupported by the embedded driver.')
      const source = still(id, 'clone', 'stopped')
      const { definition, fill } = draftClone(source, name, progress)
      return withDiskStill(source, diskOf(source), () =>
        make({
          definition,
          async fill(folder) {
            await fill(folder)
            // The last moment at which nothing of the clone has been shown.
            deadline.throwIfAborted()
          },
        }),
      )
    },
    export: async (id, how) => exportFiles(still(id, 'export', 'stopped', 'suspended'), how, claims),
    adopt: ({ id, name }, fill) =>
      create(id, name, folder => adoptFiles(folder, { id, name, fill, judge: judgePacked })),
    async configure(id, changes) {
      const machine = find(id)
      const { definition, name, state } = machine.view()
      if (state !== 'stopped' && (changes.cpus !== undefined || changes.memory !== undefined))
        throw new ServiceError('conflict', `${name} is ${state}; stop it to change its processors or memory.`)
      const changed = { ...definition, ...changes }
      checkHardware(changed)
      await folders.write(changed)
      return machine.redefine(changed)
    },
    async remove(id) {
      if (!invalid.has(id)) {
        const { state, name } = find(id).view()
        if (state !== 'stopped') throw new ServiceError('conflict', `${name} is ${state}; stop it, then delete it.`)
      }
      await folders.remove(id)
      machines.delete(id)
      invalid.delete(id)
    },
    async close() {
      const deadline = AbortSignal.timeout(limit)
      await Promise.all(
        machines.values().map(async machine => {
          try {
            await machine.putAside(deadline)
          } catch (error) {
            const { name } = machine.view()
            log.error('Machine {name} could not be suspended and is cut off: {error}', {
              name,
              error: messageOf(error),
            })
            await machine.cut()
          }
        }),
      )
    },
    type: (id, text) => find(id).type(text),
  }
}
