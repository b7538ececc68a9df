/**
 * The repository locks that this service has acquired, by their ids. The service records each lock in its state before
 * anybody can see it, and forgets it at its end. So a lock that is recorded when a process starts belongs to an earlier
 * process of the same service, which no longer runs.
 */
export interface OwnLocks {
  record(id: string, until: number): Promise<void>
  forget(id: string): Promise<void>
  /** Returns since when, in milliseconds, it is certain that nobody has the lock. Undefined when that is not certain. */
  getStaleSince(id: string): number | undefined
}
