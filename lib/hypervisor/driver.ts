import type { Duplex } from 'node:stream'
import type { Agent } from './agent/agent.ts'
import type { Definition, NewMachine } from './definition.ts'
import type { ForkDriver } from './fork.ts'
import type { Forward } from './machine-parts.ts'
import type { SerialPort } from './serial-port.ts'
import type { SnapshotDriver, SnapshotTree } from './snapshot.ts'

export type StableState = 'stopped' | 'running' | 'paused' | 'suspended' | 'invalid'

export type Verb = 'start' | 'stop' | 'restart' | 'reset' | 'pause' | 'suspend' | 'resume'

export interface Address {
  readonly ip: string
  readonly type: 'ipv4' | 'ipv6'
}

/** What the guest agent tells about the guest. */
export interface GuestFacts {
  readonly agentVersion: string
  /** A short name of the operating system: `debian`, `mswindows`, … Undefined if the agent does not tell it. */
  readonly systemId?: string
  /** The operating system with its version, for people. */
  readonly systemName?: string
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
  /** The machine's folder, absolute. `files/serial-output.ts` reads the serial output of the guest there. */
  readonly home: string
  /** The saved memory of a suspended machine, absolute. */
  readonly stateFile?: string
  /** The addresses of the guest as its agent tells them, IPv4 first. */
  readonly addresses: readonly Address[]
  /** The names of the network cards that have lost their end on the host. Undefined if none has. */
  readonly disconnectedCards?: readonly string[]
  /** True if a process waits for the next fork of the machine, which is fast then. */
  readonly forkReady?: true
  /** Undefined while no guest agent has answered since the machine was started. */
  readonly guest?: GuestFacts
  /** Undefined for a machine that has never had a snapshot. */
  readonly snapshots?: SnapshotTree
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

/** The bytes that have gone over a network card. */
export interface CardUsage {
  /** `net0`, … */
  readonly card: string
  /** Who has counted: the host, since the machine was started, or the guest itself, since it has booted. */
  readonly countedBy: 'host' | 'guest'
  readonly bytesReceived: number
  readonly bytesSent: number
}

/** What a machine has used of its host since its process was started. */
export interface MachineUsage {
  readonly cpuSeconds: number
  /** The resident memory of its process, in bytes. */
  readonly memory: number
  readonly diskBytesRead: number
  readonly diskBytesWritten: number
  /** The cards that somebody counts. */
  readonly networks: readonly CardUsage[]
}

/** When a change of a machine takes effect. */
export type EffectTime = 'now' | 'at the next start'

/** The capabilities in which drivers differ. */
export interface Features {
  readonly linkedClone: boolean
  /** True if the driver can clone a running machine. */
  readonly cloneRunning: boolean
}

/**
 * What a copy of a running machine has on its disks: all that the guest's file systems had (`filesystem`), or what a power cut
 * would leave (`crash`).
 */
export type Consistency = 'filesystem' | 'crash'

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
   * one). If the source runs, `onConsistency` receives what its copied disks have.
   */
  clone(
    id: string,
    name: string,
    options: {
      id?: string
      owner?: string | undefined
      linked: boolean
      deadline: AbortSignal
      onProgress: (fraction: number) => void
      onConsistency?: (consistency: Consistency) => void
    },
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
    machine: { readonly id: string; readonly name: string; readonly owner?: string | undefined },
    populate: (folder: string) => Promise<void>,
  ): Promise<MachineView>
  /**
   * Returns the guest agent of a running machine; its connection belongs to the driver. Undefined for a driver without agents.
   * Throws `conflict` with what is missing: the agent in the guest, or the machine's port for it.
   */
  openAgent?(id: string): Promise<Agent>
  /**
   * Tells when a change of a machine takes effect. Changes nothing. Throws what the machine cannot take: `unsupported`, `invalid`,
   * and `conflict` for what a running machine cannot take.
   */
  checkChange(view: MachineView, next: Definition): EffectTime
  /**
   * Gives a machine a new definition, which has its id: at once as far as a running machine can take it. Of a new disk that is a
   * file of the host, `next` has the path alone; the driver measures it. Throws as `checkChange`, and the machine is then as it
   * was.
   */
  configure(id: string, next: Definition): Promise<MachineView>
  /** Measures a running machine. Resolves to undefined if it does not answer. A driver without it measures nothing. */
  measure?(id: string): Promise<MachineUsage | undefined>
  /**
   * Replaces the forwards of a machine; of a running one at once. If one of them fails, none changes. Throws `conflict` for a port
   * that is taken, and `unsupported` for a machine without an isolated card. Drivers without forwards do not have it.
   */
  setForwards?(id: string, forwards: readonly Forward[]): Promise<MachineView>
  /**
   * Connects to a TCP port of a running guest, without a port that others could use. Throws `upstream` if the guest refuses,
   * `timeout` if it does not answer, and `unsupported` for a machine without an isolated card. Drivers without tunnels do not
   * have it.
   */
  openTunnel?(id: string, port: number): Promise<Duplex>
  /**
   * Opens the input of a running machine's serial line. Throws `conflict` for a machine that does not run. Drivers without serial
   * lines do not have it.
   */
  openSerial?(id: string): Promise<SerialPort>
  /**
   * Draws what is on the screen of a running or paused machine, as a PNG. Throws `conflict` for a machine without a screen. Drivers
   * without screens do not have it.
   */
  takeScreenshot?(id: string): Promise<Uint8Array>
  /**
   * Connects to the screen of a running or paused machine, which speaks RFB (RFC 6143) without a password. Throws `conflict` for a
   * machine without a screen. Drivers without screens do not have it.
   */
  openScreen?(id: string): Promise<Duplex>
  /** Drivers without snapshots do not have it. */
  readonly snapshots?: SnapshotDriver
  /** Drivers without forks do not have it. */
  readonly forks?: ForkDriver
  /** Deletes what the cloud-init of a stopped machine is told. Returns false if there is nothing of the kind. */
  deleteSeed(id: string): Promise<boolean>
  /** Deletes a machine that does not run, with all files in its folder. */
  remove(id: string): Promise<void>
  /**
   * Closes the driver. Machines that can run without the service keep running. The driver suspends the others to disk, the
   * most recently used first. A machine that is not saved by the deadline is stopped at the next start, and its problem
   * says so.
   */
  close(deadline?: AbortSignal): Promise<void>
}
