/** What a worker needs to become one machine. Paths are absolute. */
export interface WorkerData {
  readonly id: string
  readonly kernel: string
  readonly initrd?: string
  readonly cmdline?: string
  /** MB */
  readonly memory: number
  readonly disk?: string
  /** The file that takes the guest's serial output. */
  readonly serialLog: string
  /** A saved state to go on from, instead of booting. */
  readonly state?: string
}

/** What a worker is asked to do; it answers `Answer` with the same number, in the order of the questions. */
export type Request =
  | { readonly number: number; readonly ask: 'run' | 'pause' }
  /** Pauses, writes the state to this path and makes state and disk durable. */
  | { readonly number: number; readonly ask: 'save'; readonly path: string }

/** Serial input for the guest; not answered. */
export interface Input {
  readonly type: string
}

/** `failed` says why not. */
export interface Answer {
  readonly number: number
  readonly failed?: string
}

/** What a worker tells of its own accord: it can be asked, its state file is of no use, its guest has halted. */
export type Report =
  | { readonly event: 'ready' }
  | { readonly event: 'unusable'; readonly reason: string }
  | { readonly event: 'halted' }
