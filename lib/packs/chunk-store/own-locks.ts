/**
 * The holds that this service has taken, by their ids. It notes each in its state before anybody can see it, and forgets
 * it at its end: what is noted when a process begins an earlier one of the same service has left, which runs no more.
 */
export interface OwnHolds {
  note(id: string, until: number): Promise<void>
  forget(id: string): Promise<void>
  /** Since when, in milliseconds, it is sure that nobody has this hold any more; undefined when it is not. */
  deadSince(id: string): number | undefined
}
