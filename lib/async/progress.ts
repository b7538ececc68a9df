/** A step of long work, as `plan` announces it. */
export interface PlannedStep<Step extends string = string> {
  readonly name: Step
  /** The name that people see. */
  readonly title: string
  /** Its share of the whole, relative to the other steps. */
  readonly weight: number
  /** The unit of its progress; left out when it has no numbers. */
  readonly unit?: 'bytes' | 'percent'
}

/** The signal and the callback of work that counts bytes. */
export interface ProgressOptions {
  readonly signal: AbortSignal
  /** Called with the number of bytes so far. */
  readonly onProgress: (bytes: number) => void
}

/** How long an operation waits for a machine that is busy. */
export interface WaitLimit {
  readonly milliseconds: number
  /** Aborted when the caller has gone: the operation stops waiting. An operation that has started goes on. */
  readonly signal?: AbortSignal
}

/**
 * What long work is given: it reports its progress here, and learns by the signal that it was cancelled. `Step` is the union
 * of the names of its steps.
 */
export interface ProgressReporter<Step extends string = string> {
  /** The id of the job that runs the work. */
  readonly id?: string
  /** Aborted, with the reason, when somebody cancels the work. */
  readonly signal?: AbortSignal
  /** Without a limit a busy machine is a conflict at once. */
  readonly waitLimit?: WaitLimit | undefined
  /** Announces the steps, in order. */
  plan(steps: readonly PlannedStep<Step>[]): void
  begin(step: Step): void
  /** Reports how much of a step is done, out of `total`, in the unit of the step. */
  advance(step: Step, value: number, total: number): void
  end(step: Step): void
  /** Called instead of `begin` when a step has nothing to do; `why` is the reason. */
  skip(step: Step, why: string): void
  /** Sets the text that people see with the numbers of a step. */
  setMessage(step: Step, message: string): void
}

/** Returns the signal of a reporter, or else a new one that is never aborted: on a shared one, listeners would remain. */
export const getSignal = ({ signal = new AbortController().signal }: Pick<ProgressReporter, 'signal'>): AbortSignal =>
  signal

const ignore = (): void => {}

/** For work whose progress nobody watches and that nobody cancels. */
export const noProgress: ProgressReporter = {
  plan: ignore,
  begin: ignore,
  advance: ignore,
  end: ignore,
  skip: ignore,
  setMessage: ignore,
}
