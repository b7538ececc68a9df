import type { RunOptions, StableState, Verb } from '../driver.ts'

/** What the verbs of a machine are made of. Each step throws as the verb does. */
export interface VerbSteps {
  boot(to: 'running' | 'paused', deadline: AbortSignal): Promise<void>
  /** Asks the guest to shut down, and waits for it. */
  shutDown(deadline: AbortSignal): Promise<void>
  /** Switches the machine off, as a power cut does. */
  switchOff(): Promise<void>
  /** Drops the saved state of a machine that is off. */
  dropState(): Promise<void>
  pause(deadline: AbortSignal): Promise<void>
  suspend(deadline: AbortSignal): Promise<void>
  /** Lets a guest that is paused or suspended continue. */
  resume(deadline: AbortSignal): Promise<void>
  /** Throws if the machine could not start again. A restart checks this first, so that the machine continues to run then. */
  assertRestartable(): Promise<void>
}

/** Runs a verb on a machine in this state. */
export const runVerb = async (
  verb: Verb,
  state: StableState,
  { force, deadline }: RunOptions,
  steps: VerbSteps,
): Promise<void> => {
  switch (verb) {
    case 'start':
      return state === 'stopped' ? steps.boot('running', deadline) : steps.resume(deadline)
    case 'stop':
      if (!force) return steps.shutDown(deadline)
      await steps.switchOff()
      return steps.dropState()
    case 'restart':
      await steps.assertRestartable()
      await steps.shutDown(deadline)
      return steps.boot('running', deadline)
    case 'reset':
      await steps.assertRestartable()
      await steps.switchOff()
      return steps.boot(state === 'paused' ? 'paused' : 'running', deadline)
    case 'pause':
      return steps.pause(deadline)
    case 'suspend':
      return steps.suspend(deadline)
    case 'resume':
      return steps.resume(deadline)
  }
}
