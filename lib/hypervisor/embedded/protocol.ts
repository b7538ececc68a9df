import type { DiskFiles } from './disks/device.ts'
import type { EmulatorProgram } from './program.ts'

/** A saved state: the path of its file, and the id of the machine that was saved. */
export interface StateToRestore {
  readonly path: string
  readonly id: string
}

/** The parameters of a worker, which runs one machine. Paths are absolute. */
export interface WorkerData {
  readonly program: EmulatorProgram
  readonly id: string
  readonly kernel: string
  /** True if the kernel is a Linux kernel; else it is a multiboot kernel. A machine with Linux has the line of the agent. */
  readonly isLinux: boolean
  readonly initrd?: string
  readonly cmdline?: string
  /** MB */
  readonly memory: number
  readonly disk?: DiskFiles
  /** The image of a CD-ROM. */
  readonly cdrom?: string
  /** The log of the guest's serial output. */
  readonly serialLog: string
  /** Bytes after which the log is rotated. */
  readonly serialLogSize: number
  /** A saved state to restore instead of booting. */
  readonly state?: StateToRestore
}

/** A request to a worker. The worker replies in order, with a `WorkerReply` of the same number. */
export type WorkerRequest =
  | { readonly number: number; readonly command: 'run' | 'pause' }
  /** Draws the screen; the reply has the picture. */
  | { readonly number: number; readonly command: 'take screenshot' }
  /** Pauses, writes the state to this path and makes state and disk durable. */
  | { readonly number: number; readonly command: 'save'; readonly path: string }

/** The serial lines of a machine: the first one is the console, the second one that of the guest agent. */
export type Line = 'console' | 'agent'

/** Serial input for the guest. The worker does not reply. */
export interface LineInput {
  readonly line: Line
  readonly input: Uint8Array
}

/** The reply to a request. `error` is set if it failed. */
export interface WorkerReply {
  readonly number: number
  /** A PNG. */
  readonly picture?: Uint8Array
  readonly error?: string
}

/** An event of a worker. */
export type WorkerEvent =
  /** It accepts requests. */
  | { readonly event: 'ready' }
  /** Its saved state is unusable. */
  | { readonly event: 'unusable'; readonly reason: string }
  /** Its guest has halted, or asks to be booted again. */
  | { readonly event: 'ended'; readonly isReboot: boolean }
  /** The guest has taken this many bytes of its input. */
  | { readonly event: 'taken'; readonly line: Line; readonly count: number }
  /** A program of the guest has opened or closed the line of the agent. */
  | { readonly event: 'agent line'; readonly isOpen: boolean }
  | { readonly event: 'agent output'; readonly bytes: Uint8Array }
