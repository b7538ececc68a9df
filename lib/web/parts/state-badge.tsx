import type { JSX } from 'preact'

/** How good each state is. What is not here is on its way to another state. */
const tones: Readonly<Record<string, 'good' | 'idle' | 'bad'>> = {
  running: 'good',
  completed: 'good',
  ready: 'good',
  claimed: 'idle',
  stopped: 'idle',
  paused: 'idle',
  suspended: 'idle',
  pending: 'idle',
  reachable: 'good',
  new: 'idle',
  drained: 'idle',
  skipped: 'idle',
  done: 'good',
  refused: 'bad',
  unreachable: 'bad',
  failed: 'bad',
  invalid: 'bad',
}

/** A state, with a colour beside the word. */
export const StateBadge = ({ state }: { readonly state: string }): JSX.Element => (
  <span class={`state ${tones[state] ?? 'moving'}`}>{state}</span>
)
