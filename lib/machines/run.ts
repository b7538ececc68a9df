import type { Verb } from '#lib/hypervisor/driver.ts'
import { noteBoot } from '#lib/hypervisor/files/boot-offset.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { assertStartable } from './capacity.ts'
import type { MachineContext } from './context.ts'
import type { OperationResult } from './schemas.ts'

/** The verbs after which a guest boots. */
const bootingVerbs: ReadonlySet<Verb> = new Set(['start', 'restart', 'reset'])

interface RunVerbOptions {
  /** Only for `stop`: preempts running operations and cuts the power. */
  readonly force?: boolean
  /** Only for `stop`: milliseconds that the guest has to shut down. */
  readonly stopTimeout?: number
  readonly progress?: ProgressReporter
}

/** Changes `start` to `Start`, as the reply has it. */
// `toUpperCase` gives any text by its type.
const capitalize = <V extends Verb>(verb: V): Capitalize<V> =>
  `${verb.charAt(0).toUpperCase()}${verb.slice(1)}` as Capitalize<V>

/**
 * Runs one of the seven verbs and settles when the machine has the new state. Throws `not-found`, `conflict` (state, busy),
 * `timeout`, and the refusals of the driver.
 */
export const runVerb = async (
  context: MachineContext,
  reference: string,
  verb: Verb,
  { force = false, stopTimeout, progress }: RunVerbOptions = {},
): Promise<OperationResult> => {
  const view = context.inventory.find(reference)
  const isForced = force && verb === 'stop'
  const action = isForced ? 'stop force' : verb
  await context.runOperation({
    view,
    action,
    key: action,
    chooseKind: transition => (transition === 'resume' ? 'resume' : verb),
    timeLimit: verb === 'stop' ? stopTimeout : undefined,
    timeoutAdvice: action === 'stop' ? '`?force=true` stops the machine at once.' : undefined,
    isForced,
    progress,
    async work({ transition, view: current }, deadline) {
      const isResumed = transition === 'resume'
      if (verb === 'start' && transition === 'run') assertStartable(context.host, current.definition)
      if (bootingVerbs.has(verb) && !isResumed) await noteBoot(current.home)
      return context.driver.run(view.id, isResumed ? 'resume' : verb, { force: isForced, deadline })
    },
  })
  return { id: view.id, operation: capitalize(verb), status: 'Success' }
}
