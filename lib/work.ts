/** A step of long work, as it is announced. */
export interface PlannedStep {
  readonly name: string
  /** What people read. */
  readonly title: string
  /** Its share of the whole, beside the other steps’. */
  readonly weight: number
  /** What its numbers count; left out where there is nothing to count. */
  readonly unit?: 'bytes' | 'percent'
}

/** How long work tells how far it is, and hears that it is not wanted any more. */
export interface Work {
  /** Of the job that follows it. */
  readonly id?: string
  /** Aborted, with the reason, when somebody cancels the work. */
  readonly signal?: AbortSignal
  /** Says which steps there will be, in order. */
  plan(steps: readonly PlannedStep[]): void
  begin(step: string): void
  /** How much of a step is done, and of how much, in its unit. */
  advance(step: string, value: number, total: number): void
  end(step: string): void
  /** Instead of beginning a step: says why there is nothing to do. */
  skip(step: string, why: string): void
  /** What people are told of a step beside its numbers. */
  note(step: string, message: string): void
}

const nothing = (): void => {}

/** Work that nobody follows or cancels. */
export const unfollowed: Work = {
  plan: nothing,
  begin: nothing,
  advance: nothing,
  end: nothing,
  skip: nothing,
  note: nothing,
}
