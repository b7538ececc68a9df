import { ServiceError } from '#lib/errors.ts'
import type { Definition } from './definition.ts'
import type { DriverEvent, HypervisorDriver, MachineView } from './driver.ts'
import { importMachineFiles } from './files/import.ts'
import type { MachineFolders, ValidMachine } from './files/machine-folders.ts'
import { createInvalidView } from './machine-views.ts'
import type { Seed } from './seed/seed.ts'
import { deleteSeed, writeSeed } from './seed/seed-files.ts'

/** A machine of a driver, as far as all drivers treat it alike. */
interface BaseMachine {
  view(): MachineView
  /** Replaces the definition, which is already persisted. */
  setDefinition(definition: Definition): MachineView
}

/** A machine that does not exist yet. `populate` writes its files into its folder. */
export interface PreparedMachine {
  readonly definition: Definition
  readonly seed?: Seed | undefined
  populate(folder: string): Promise<void>
}

/** The machines of a driver and their folders: what all drivers do alike. A driver composes its methods of these. */
export interface BaseDriver<Machine extends BaseMachine> extends Pick<
  HypervisorDriver,
  'list' | 'get' | 'configure' | 'deleteSeed' | 'remove'
> {
  /** The machines with a valid definition. */
  readonly machines: ReadonlyMap<string, Machine>
  /** Reports an event to the receiver that `open` was given. */
  report(event: DriverEvent): void
  /**
   * Finds the machines on disk. Returns those with a valid definition, which the driver recovers and registers. The others can
   * only be listed and deleted.
   */
  open(onEvent: (event: DriverEvent) => void): Promise<readonly ValidMachine[]>
  register(machine: Machine): Machine
  /** Returns the views of all machines, valid or not. */
  views(): readonly MachineView[]
  /** Returns a machine. Throws `not-found`, and `conflict` for a machine with an invalid definition. */
  requireMachine(id: string): Machine
  /** Returns the view of a machine, valid or not. Throws `not-found`. */
  requireView(id: string): MachineView
  /** Creates the folder of a machine as `MachineFolders.create` does, and registers the machine. */
  create(id: string, populate: (folder: string) => Promise<Definition>): Promise<MachineView>
  /** Stores a new definition of a machine and uses it from now on. Throws as `MachineFolders.writeDefinition` does. */
  replaceDefinition(definition: Definition): Promise<MachineView>
  /** Creates a prepared machine as `create` does. */
  createPrepared(machine: PreparedMachine): Promise<MachineView>
  /** Imports a machine as `importMachineFiles` does, and registers it. */
  import(
    ...call: [...Parameters<HypervisorDriver['import']>, validate: Parameters<typeof importMachineFiles>[1]['validate']]
  ): Promise<MachineView>
}

interface Options<Machine extends BaseMachine> {
  readonly folders: MachineFolders
  /** Creates the object for a machine that does not run. */
  readonly createMachine: (definition: Definition) => Machine
}

/** Creates the part of a driver that stores, finds and lists its machines. */
export const createBaseDriver = <Machine extends BaseMachine>(options: Options<Machine>): BaseDriver<Machine> => {
  const { folders, createMachine } = options
  const machines = new Map<string, Machine>()
  /** Machines with an unreadable definition. */
  const invalidMachines = new Map<string, MachineView>()
  let report: (event: DriverEvent) => void = () => {}

  const find = (id: string): MachineView | undefined => machines.get(id)?.view() ?? invalidMachines.get(id)
  const requireView = (id: string): MachineView => {
    const view = find(id)
    if (!view) throw new ServiceError('not-found', `There is no machine with the id ${id}.`)
    return view
  }
  const requireMachine = (id: string): Machine => {
    const machine = machines.get(id)
    if (machine) return machine
    const { name, problem } = requireView(id)
    throw new ServiceError('conflict', `${name} is invalid: ${problem}. It can only be deleted.`)
  }
  const register = (machine: Machine): Machine => {
    machines.set(machine.view().id, machine)
    return machine
  }
  const create = async (id: string, populate: (folder: string) => Promise<Definition>): Promise<MachineView> =>
    register(createMachine(await folders.create(id, populate))).view()
  const replaceDefinition = async (definition: Definition): Promise<MachineView> => {
    const machine = requireMachine(definition.id)
    await folders.writeDefinition(definition)
    return machine.setDefinition(definition)
  }
  // Of two machines with the same name, the later one in the list is found by that name.
  const views = (): readonly MachineView[] => [
    ...invalidMachines.values(),
    ...machines.values().map(machine => machine.view()),
  ]

  return {
    machines,
    report: event => report(event),
    async open(onEvent) {
      report = onEvent
      const found = await folders.open()
      for (const machine of found) if (!machine.definition) invalidMachines.set(machine.id, createInvalidView(machine))
      return found.filter(machine => machine.definition !== undefined)
    },
    register,
    views,
    list: async () => views(),
    get: async id => find(id),
    requireMachine,
    requireView,
    create,
    replaceDefinition,
    createPrepared: ({ definition, seed, populate }) =>
      create(definition.id, async folder => {
        await populate(folder)
        if (seed) await writeSeed(folder, seed, definition)
        return definition
      }),
    import: (machine, populate, validate) =>
      create(machine.id, folder => importMachineFiles(folder, { ...machine, populate, validate })),
    configure: (_, next) => replaceDefinition(next),
    deleteSeed: async id => deleteSeed(requireMachine(id).view().home),
    async remove(id) {
      await folders.remove(id)
      machines.delete(id)
      invalidMachines.delete(id)
    },
  }
}
