import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { formatCursor } from '#lib/events/cursor.ts'
import { cloneMachine } from '../clone.ts'
import type { MachineContext } from '../context.ts'
import { createMachine } from '../create.ts'
import { runFork } from '../forks/fork.ts'
import { runVerb } from '../run.ts'
import { CreateMachine } from '../schemas.ts'
import { type Condition, parseCondition } from '../wait/conditions.ts'
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

/** What the service alone does with a machine is as the template says. */
const applyTemplate = async (
  context: MachineContext,
  id: string,
  { labels, ephemeral, autostart, restart }: MemberPlan['template'],
): Promise<void> => {
  if ([labels, ephemeral, autostart, restart].every(value => value === undefined)) return
  await changeLifecycle(context, id, definition => ({
    ...definition,
    ...(labels && { labels: { ...definition.labels, ...labels } }),
    ...(ephemeral !== undefined && { ephemeral }),
    ...(autostart && { autostart }),
    ...(restart && { restart }),
  }))
}

/** A fork has no connection until its guest has taken over the new addresses. */
const isConnected: Condition = {
  kind: 'view',
  needsGuest: false,
  holds: ({ disconnectedCards }) => disconnectedCards === undefined,
}
/** Milliseconds. Some guests release no card: they keep no connection until their next start. */
const connectionTimeout = 10_000

/** Copies a machine or a snapshot. The copy shares the disks of a source that does not run, and those of a snapshot. */
const copySource = async (
  context: MachineContext,
  { id, name }: MemberIdentity,
  { sourceId = '', snapshotId, template }: MemberPlan,
  progress: ProgressReporter,
): Promise<void> => {
  const { driver, inventory } = context
  const isStill = snapshotId !== undefined || inventory.find(sourceId).state === 'stopped'
  const linked = driver.features.linkedClone && isStill
  const waitLimit = { milliseconds: sourceTimeout }
  const options = { linked, snapshot: snapshotId, progress: { ...progress, id, waitLimit } }
  await cloneMachine(context, sourceId, name, options)
  await applyTemplate(context, id, template)
}

/**
 * Forks a machine that runs and waits until the fork has a connection of its own. Returns false for a machine that cannot fork: it
 * does not run, or has parts with which no machine can.
 */
const forkSource = async (
  context: MachineContext,
  waiting: WaitContext,
  { id, name }: MemberIdentity,
  { sourceId = '', snapshotId, template }: MemberPlan,
  progress: ProgressReporter,
): Promise<boolean> => {
  const source = context.inventory.find(sourceId)
  if (snapshotId !== undefined || !context.driver.forks || source.state !== 'running') return false
  try {
    const waitLimit = { milliseconds: sourceTimeout }
    await runFork(context, source, { names: [name], describe: () => ({ id, name }) }, { ...progress, waitLimit })
  } catch (error) {
    if (isFault(error, 'unsupported')) return false
    throw error
  }
  await applyTemplate(context, id, template)
  const { signal } = progress
  await waitFor(waiting, isConnected, { id, milliseconds: connectionTimeout, endsWhenStopped: true, signal })
  return true
}

/** True for a condition that a boot fulfils. A fork goes on from a moment after the boot of its source. */
const isOfBoot = ({ kind }: Condition): boolean => kind === 'serial' || kind === 'event'

/**
 * Makes a machine that belongs to nobody, starts it, and waits until it is ready. The copy of a machine that runs is a fork of it, if
 * the machine can fork. After a failure or an abort there may be a part of it, which the caller deletes. Throws what a create, a
 * clone, a fork and a start throw, `timeout` for a machine that does not become ready, and the reason of the signal.
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
  const isFork = sourceId !== undefined && (await forkSource(context, waiting, member, plan, progress))
  if (!isFork) {
    if (sourceId === undefined) {
      const request = CreateMachine.parse({ ...template, name, image: from.image })
      await createMachine(context, request, undefined, id)
    } else await copySource(context, member, plan, progress)
    signal.throwIfAborted()
    await runVerb(context, id, 'start', { progress })
  }
  if (!condition || (isFork && isOfBoot(condition))) return
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
