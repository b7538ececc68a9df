import type { StableState } from './driver.ts'

export interface Clock {
  readonly since: number
  readonly ranFor: number
}

/**
 * The clock of a machine that changes state at `now`: pauses and suspensions do not count as running, a boot starts at zero.
 * All times in milliseconds.
 */
export const tick = (clock: Clock, from: StableState, to: StableState, now: number, booted = false): Clock => {
  if (to === 'stopped' || to === 'invalid' || booted) return { since: now, ranFor: 0 }
  return { since: now, ranFor: ranFor(clock, from, now) }
}

/** For how long a machine in `state` has run since its boot, in milliseconds. */
export const ranFor = (clock: Clock, state: StableState, now: number): number =>
  state === 'running' ? clock.ranFor + Math.max(0, now - clock.since) : clock.ranFor
