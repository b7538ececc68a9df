import type { Definition } from '../../definition.ts'
import type { ProcessControl } from '../process-control.ts'
import type { RunningQemu } from '../process.ts'

/** A running QEMU and its events. */
export interface RunningMachine extends RunningQemu, Pick<ProcessControl, 'subscribe'> {
  /** Logs an error that must not fail the operation. */
  warn(error: unknown): void
}

/**
 * The order of steps. First comes what the guest may refuse to release: giving it back needs no guest. Then comes what QEMU is
 * given, then what cannot be undone.
 */
const phases = ['release', 'give', 'grow'] as const

/** A part of a change of a machine. All steps of a change are applied, or none. */
export interface Step {
  readonly phase: (typeof phases)[number]
  apply(): Promise<void>
  /** Takes back what `apply` has done. */
  undo?(): Promise<void>
  /** Returns the definition with what `apply` has done: for a step that stays done although a later one fails. */
  record?(definition: Definition): Definition
  /** Removes what is no longer needed, after the new definition is stored. */
  finish?(): Promise<void>
}

/** The outcome of steps: all were applied, or the definition that is true after one has failed. */
export type StepOutcome = 'applied' | { readonly error: unknown; readonly definition: Definition }

/** Undoes a step. Returns false if that fails: a guest may keep a device that it was just given. */
const isUndone = async (step: Step, warn: (error: unknown) => void): Promise<boolean> => {
  if (!step.undo) return false
  try {
    await step.undo()
    return true
  } catch (error) {
    warn(error)
    return false
  }
}

/** Applies steps in the order of their phases. If one fails, undoes those before it, the last one first. */
export const applySteps = async (
  steps: readonly Step[],
  current: Definition,
  warn: (error: unknown) => void,
): Promise<StepOutcome> => {
  const ordered = phases.flatMap(phase => steps.filter(step => step.phase === phase))
  const applied: Step[] = []
  try {
    for (const step of ordered) {
      await step.apply()
      applied.push(step)
    }
    return 'applied'
  } catch (error) {
    let definition = current
    for (const step of applied.toReversed())
      if (!(await isUndone(step, warn))) definition = step.record?.(definition) ?? definition
    return { error, definition }
  }
}
