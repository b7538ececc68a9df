import type { Changes, Definition, NewMachine } from './definition.ts'

export type StableState = 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid'

export type Verb = 'start' | 'stop' | 'restart' | 'reset' | 'pause' | 'suspend' | 'resume'

export interface Address {
  readonly ip: string
  readonly type: 'ipv4' | 'ipv6'
}

/** All that is known of a machine at one moment. Drivers hand out whole views and never change one afterwards. */
export interface MachineView {
  /** UUID, lower case. */
  readonly id: string
  readonly name: string
  readonly state: StableState
  /** What is wrong with it, in words (`crashed`, …); stands beside the state. */
  readonly problem?: string
  readonly definition: Definition
  /** The machine's folder, absolute. The guest's serial output is its file `serial.log`. */
  readonly home: string
  /** The saved memory of a suspended machine, absolute. */
  readonly stateFile?: string
  readonly addresses: readonly Address[]
  /** When the present state began, milliseconds since 1970. */
  readonly since: number
  /** Milliseconds for which it had run, since its last boot, when the present state began. */
  readonly ranFor: number
}

/** Why a machine changed without being asked through this service. */
export type SeenCause = 'guest' | 'host' | 'crash' | 'recovery'

/** What a driver tells of its own accord. `gap` means that something was missed: list again. */
export type Seen = { readonly view: MachineView; readonly cause: SeenCause } | { readonly gone: string } | 'gap'

/** What of a driver can differ, as data. */
export interface Features {
  /** Fields of the definition that `configure` can change while the machine runs. */
  readonly hotplug: ReadonlySet<keyof Changes>
  readonly linkedClone: boolean
  /** Whether a running machine can be cloned. */
  readonly cloneRunning: boolean
}

/** The values of the machine record (spec 2.6) that depend on the hypervisor and not on the machine. */
export interface Platform {
  /** What the record shows as `Optimization`.`Hypervisor type`. */
  readonly hypervisorType: string
  /** `Hardware`.`cpu`: `off` interpreted or translated, `high` hardware. */
  readonly acceleration: 'off' | 'low' | 'high'
  readonly cpuType: 'x86' | 'arm'
  readonly cpuMode: '32' | '64'
  readonly diskPort: string
  /** Empty where machines have no network. */
  readonly networkCard: string
}

/** Files that together are a machine, wherever they lie; disposing removes what was made for it. */
export interface ExportedMachine extends AsyncDisposable {
  /** Names in the machine's folder (no leading slash), and absolute paths. `machine.json` is among them. */
  readonly files: readonly { readonly name: string; readonly path: string }[]
}

export interface RunOptions {
  readonly force: boolean
  /** Aborted when time is up or a forced stop takes over; `reason` is the ServiceError to reject with. */
  readonly deadline: AbortSignal
}

/**
 * The port that every hypervisor driver implements. The driver is the only truth about machines.
 *
 * Rules that the contract suite (test/contracts/hypervisor.ts) holds every driver to:
 * - Callers ask only for what the guard table (lib/machines/states.ts) lets through, one call per machine at a time.
 * - A call settles only when the machine is in a stable state again: done, or — rejected — in the state before.
 *   When `deadline` aborts, the driver falls back to a stable state and rejects with `deadline.reason`.
 * - Every mutating call returns the machine's view afterwards; `seen` is for changes nobody asked for.
 * - Refusals are ServiceErrors: `not-found`, `conflict`, `invalid`, `unsupported`, `no-space`, `upstream` (the hypervisor
 *   said no: its last line is in the message), `timeout`, `unavailable`.
 */
export interface HypervisorDriver {
  readonly kind: string
  readonly features: Features
  readonly platform: Platform
  /** Finishes or rolls back what a dead process left; afterwards `list` knows every machine. Reports through `seen` from then on. */
  open(seen: (what: Seen) => void): Promise<void>
  list(): Promise<readonly MachineView[]>
  get(id: string): Promise<MachineView | undefined>
  run(id: string, verb: Verb, how: RunOptions): Promise<MachineView>
  create(machine: NewMachine): Promise<MachineView>
  /** Makes the demo machine that a fresh installation shows. */
  createDemo(): Promise<MachineView>
  /** `progress` is told from time to time which part is copied, 0 to 1. */
  clone(
    id: string,
    name: string,
    how: { linked: boolean; deadline: AbortSignal; progress: (part: number) => void },
  ): Promise<MachineView>
  /**
   * The files of a machine that is stopped or suspended, complete in themselves: attached images and linked disks are copied flat
   * into `staging` (an empty private folder of the caller), other files are named where they lie. Saved memory, pid files,
   * sockets, logs, notes are left out, so what is made of a suspended machine begins as after a power cut; MAC addresses and
   * id may stay in machine.json.
   */
  export(
    id: string,
    how: { staging: string; deadline: AbortSignal; progress: (part: number) => void },
  ): Promise<ExportedMachine>
  /**
   * Makes a machine of files that came from a pack, with MAC addresses of its own: `fill` puts them into the new machine's
   * folder, out of sight; then they are judged, and the machine exists wholly or not at all. Throws `invalid` with what is
   * wrong with the pack.
   */
  adopt(
    machine: { readonly id: string; readonly name: string },
    fill: (folder: string) => Promise<void>,
  ): Promise<MachineView>
  configure(id: string, changes: Changes): Promise<MachineView>
  /** Deletes a machine that does not run, and what belongs to it. */
  remove(id: string): Promise<void>
  /** Lets go of the machines. Stops none that can live without the service; one that cannot is suspended to its file. */
  close(): Promise<void>
}
