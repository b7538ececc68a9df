import type { StableState } from './driver.ts'

export interface RunClock {
  readonly since: number
  readonly ranFor: number
}

/**
 * Returns the clock of a machine that changes state at `now`. Pauses and suspensions do not count as run time, and a boot resets
 * it to zero. All times are in milliseconds.
 */
export const advanceClock = (
  clock: RunClock,
  from: StableState,
  to: StableState,
  now: number,
  booted = false,
): RunClock => {
  if (to === 'stopped' || to === 'invalid' || booted) return { since: now, ranFor: 0 }
  return { since: now, ranFor: computeRunTime(clock, from, now) }
}

/** Returns how long a machine in `state` has run since its boot, in milliseconds. */
export const computeRunTime = (clock: RunClock, state: StableState, now: number): number =>
  state === 'running' ? clock.ranFor + Math.max(0, now - clock.since) : clock.ranFor
