import type { DefinitionChanges, Definition, NewMachine } from './definition.ts'

export type StableState = 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid'

export type Verb = 'start' | 'stop' | 'restart' | 'reset' | 'pause' | 'suspend' | 'resume'

export interface Address {
  readonly ip: string
  readonly type: 'ipv4' | 'ipv6'
}

/** A snapshot of everything known about a machine. Drivers return complete views and never change one afterwards. */
export interface MachineView {
  /** UUID, lower case. */
  readonly id: string
  readonly name: string
  readonly state: StableState
  /** A problem as text (`crashed`, …), in addition to the state. */
  readonly problem?: string
  readonly definition: Definition
  /** The machine's folder, absolute. Its file `serial.log` contains the serial output of the guest. */
  readonly home: string
  /** The saved memory of a suspended machine, absolute. */
  readonly stateFile?: string
  readonly addresses: readonly Address[]
  /** Time at which the present state began, in milliseconds since 1970. */
  readonly since: number
  /** Milliseconds that the machine had run since its last boot when the present state began. */
  readonly ranFor: number
}

/** Why a machine changed although no request to this service asked for it. */
export type ChangeCause = 'guest' | 'host' | 'crash' | 'recovery'

/** An event that a driver reports. `gap` means that the driver missed events: the caller must list the machines again. */
export type DriverEvent =
  | { readonly view: MachineView; readonly cause: ChangeCause }
  | { readonly gone: string }
  | 'gap'

/** The capabilities in which drivers differ. */
export interface Features {
  /** Fields of the definition that `configure` can change while the machine runs. */
  readonly hotplug: ReadonlySet<keyof DefinitionChanges>
  readonly linkedClone: boolean
  /** True if the driver can clone a running machine. */
  readonly cloneRunning: boolean
}

/** The values of the machine record (spec 2.6) that depend on the hypervisor and not on the machine. */
export interface Platform {
  /** What the record shows as `Optimization`.`Hypervisor type`. */
  readonly hypervisorType: string
  /** Why machines run slower than they could. The machine record and the health of the hypervisor show this text too. */
  readonly problem?: string
  /** `Hardware`.`cpu`: `off` for interpretation or translation, `high` for hardware virtualization. */
  readonly acceleration: 'off' | 'low' | 'high'
  readonly cpuType: 'x86' | 'arm'
  readonly cpuMode: '32' | '64'
  readonly diskPort: string
  /** Empty where machines have no network. */
  readonly networkCard: string
}

/** Returns the type of the hypervisor and, if machines run slower than they could, the reason. */
export const describeHypervisor = ({ hypervisorType, problem }: Platform): string =>
  [hypervisorType, problem].filter(Boolean).join('; ')

/** An export handle: the files of a machine, wherever they are. Disposing it removes the copies that the export created. */
export interface ExportedMachine extends AsyncDisposable {
  /** Names in the machine's folder (without leading slash) and absolute paths. `machine.json` is one of them. */
  readonly files: readonly { readonly name: string; readonly path: string }[]
}

export interface RunOptions {
  readonly force: boolean
  /** Aborts at the time limit or when a forced stop preempts the call. The driver rejects with its `reason`, a ServiceError. */
  readonly deadline: AbortSignal
}

/**
 * The port that every hypervisor driver implements. The driver is the only source of truth about its machines.
 *
 * The contract suite (test/contracts/hypervisor.ts) checks these rules on every driver:
 * - Callers make only the calls that the guard table (lib/machines/states.ts) allows, one call per machine at a time.
 *   A forced stop is the exception: it may run beside a call that hangs, and ends that call.
 * - A call settles only when the machine is in a stable state: the new one if it succeeds, the previous one if it rejects.
 *   When `deadline` aborts, the driver returns to a stable state and rejects with `deadline.reason`.
 * - Every call that changes a machine returns its new view. `onEvent` reports only changes that no call asked for.
 * - The driver opens files of the host through the opener it was given (`openMachineFile`), at create and at every use, and
 *   uses the open file, never the path again. If the opener refuses a file, the machine stays unchanged.
 * - Refusals are ServiceErrors: `not-found`, `forbidden`, `conflict`, `invalid`, `unsupported`, `no-space`, `upstream` (the
 *   hypervisor refused: the message contains its last line), `timeout`, `unavailable`.
 */
export interface HypervisorDriver {
  readonly kind: string
  readonly features: Features
  readonly platform: Platform
  /**
   * Completes or rolls back the operations that a killed service left. Afterwards `list` returns every machine, and the driver
   * reports changes to `onEvent`.
   */
  open(onEvent: (event: DriverEvent) => void): Promise<void>
  list(): Promise<readonly MachineView[]>
  get(id: string): Promise<MachineView | undefined>
  run(id: string, verb: Verb, options: RunOptions): Promise<MachineView>
  create(machine: NewMachine): Promise<MachineView>
  /** Creates the demo machine of a fresh installation. */
  createDemo(): Promise<MachineView>
  /**
   * Clones a machine. `onProgress` receives the copied fraction, 0 to 1. `options.id` is the id of the clone (default: a new
   * one).
   */
  clone(
    id: string,
    name: string,
    options: { id?: string; linked: boolean; deadline: AbortSignal; onProgress: (fraction: number) => void },
  ): Promise<MachineView>
  /**
   * Exports a stopped or suspended machine as files that need no others. The driver copies attached images and linked disks,
   * flattened, into `staging` (an empty private folder of the caller) and returns the paths of all other files in place. The
   * export excludes saved memory, pid files, sockets, logs and persisted state, so a machine imported from a suspended one
   * boots as after a power cut. machine.json may still contain MAC addresses and id.
   */
  export(
    id: string,
    options: { staging: string; deadline: AbortSignal; onProgress: (fraction: number) => void },
  ): Promise<ExportedMachine>
  /**
   * Imports a machine from the files of a pack and gives it new MAC addresses. `populate` writes the files into a hidden folder;
   * the driver validates them and then publishes the machine atomically. Throws `invalid` with the fault of the pack.
   */
  import(
    machine: { readonly id: string; readonly name: string },
    populate: (folder: string) => Promise<void>,
  ): Promise<MachineView>
  configure(id: string, changes: DefinitionChanges): Promise<MachineView>
  /** Deletes a machine that does not run, with all files in its folder. */
  remove(id: string): Promise<void>
  /**
   * Closes the driver. Machines that can run without the service keep running. The driver suspends the others to disk, the
   * most recently used first. A machine that is not saved by the deadline is stopped at the next start, and its problem
   * says so.
   */
  close(deadline?: AbortSignal): Promise<void>
}
