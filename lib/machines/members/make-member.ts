import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import { formatCursor } from '#lib/events/cursor.ts'
import { cloneMachine } from '../clone.ts'
import type { MachineContext } from '../context.ts'
import { createMachine } from '../create.ts'
import { runVerb } from '../run.ts'
import { CreateMachine } from '../schemas.ts'
import { parseCondition } from '../wait/conditions.ts'
import type { WaitContext } from '../wait/context.ts'
import { waitFor } from '../wait/wait-for.ts'
import { changeLifecycle } from './change-lifecycle.ts'
import type { MemberPlan } from './plan.ts'

/** The id, in lower case, and the name of a machine that is to be made. */
export interface MemberIdentity {
  readonly id: string
  readonly name: string
}

/** Milliseconds in which a new machine has to be ready. */
const readyTimeout = 10 * 60_000
/** Milliseconds that a copy waits for a source that is busy. */
const sourceTimeout = 60_000

/** Copies a machine. The copy shares the disks of a source that does not run. */
const copySource = async (
  context: MachineContext,
  { id, name }: MemberIdentity,
  { sourceId = '', template }: MemberPlan,
  progress: ProgressReporter,
): Promise<void> => {
  const { driver, inventory } = context
  const linked = driver.features.linkedClone && inventory.find(sourceId).state === 'stopped'
  const waitLimit = { milliseconds: sourceTimeout }
  await cloneMachine(context, sourceId, name, { linked, progress: { ...progress, id, waitLimit } })
  const { labels, ephemeral, autostart, restart } = template
  if (Object.keys(template).length > 0)
    await changeLifecycle(context, id, definition => ({
      ...definition,
      ...(labels && { labels: { ...definition.labels, ...labels } }),
      ...(ephemeral !== undefined && { ephemeral }),
      ...(autostart && { autostart }),
      ...(restart && { restart }),
    }))
}

/**
 * Makes a machine that belongs to nobody, starts it, and waits until it is ready. After a failure or an abort there may be a part
 * of it, which the caller deletes. Throws what a create, a clone and a start throw, `timeout` for a machine that does not become
 * ready, and the reason of the signal.
 */
export const makeMember = async (
  context: MachineContext,
  waiting: WaitContext,
  member: MemberIdentity,
  plan: MemberPlan,
  signal: AbortSignal,
): Promise<void> => {
  const { from, template, until, sourceId } = plan
  const { id, name } = member
  const progress = { ...noProgress, signal }
  const condition =
    until === undefined ? undefined : await parseCondition(until, { parameter: 'until', driver: context.driver })
  const since = condition?.kind === 'event' ? formatCursor(waiting.events.head()) : undefined
  if (sourceId === undefined) {
    const request = CreateMachine.parse({ ...template, name, image: from.image })
    await createMachine(context, request, undefined, id)
  } else await copySource(context, member, plan, progress)
  signal.throwIfAborted()
  await runVerb(context, id, 'start', { progress })
  if (!condition) return
  const { end } = await waitFor(waiting, condition, {
    id,
    since,
    milliseconds: readyTimeout,
    endsWhenStopped: true,
    signal,
  })
  if (end === 'met') return
  const why = { timeout: 'it took too long', stopped: 'it has stopped', gone: 'it was deleted' }[end]
  throw new ServiceError('timeout', `${name} did not come to \`${until}\`: ${why}. Look at its console.`)
}
