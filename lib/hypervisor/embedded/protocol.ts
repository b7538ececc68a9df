import type { EmulatorProgram } from './program.ts'

/** The parameters of a worker, which runs one machine. Paths are absolute. */
export interface WorkerData {
  readonly program: EmulatorProgram
  readonly id: string
  readonly kernel: string
  readonly initrd?: string
  readonly cmdline?: string
  /** MB */
  readonly memory: number
  readonly disk?: string
  /** The log of the guest's serial output. */
  readonly serialLog: string
  /** Bytes after which the log is rotated. */
  readonly serialLogSize: number
  /** A saved state to restore instead of booting. */
  readonly state?: string
}

/** A request to a worker. The worker replies in order, with a `WorkerReply` of the same number. */
export type WorkerRequest =
  | { readonly number: number; readonly command: 'run' | 'pause' }
  /** Pauses, writes the state to this path and makes state and disk durable. */
  | { readonly number: number; readonly command: 'save'; readonly path: string }

/** Serial input for the guest. The worker does not reply. */
export interface SerialInput {
  readonly input: string
}

/** The reply to a request. `error` is set if it failed. */
export interface WorkerReply {
  readonly number: number
  readonly error?: string
}

/** An event of a worker: it accepts requests, its saved state is unusable, or its guest has halted. */
export type WorkerEvent =
  | { readonly event: 'ready' }
  | { readonly event: 'unusable'; readonly reason: string }
  | { readonly event: 'halted' }
