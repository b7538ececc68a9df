import type { ProgressReporter } from '#lib/async/progress.ts'
import { formatCursor } from '#lib/events/cursor.ts'
import type { MachineContext } from './context.ts'
import { createMachine, type Owner } from './create.ts'
import { removeMachine } from './remove.ts'
import { runVerb } from './run.ts'
import type { CreatedMachine, CreateMachine } from './schemas.ts'
import { parseCondition } from './wait/conditions.ts'
import type { WaitContext } from './wait/context.ts'
import { waitFor } from './wait/wait-for.ts'

interface Options {
  /** The text of the condition. */
  readonly until: string
  readonly owner?: Owner | undefined
  readonly waiting: WaitContext
  readonly progress?: ProgressReporter | undefined
}

/** Milliseconds that a request without `Prefer: wait` waits. */
const defaultWait = 60_000

/**
 * Creates a machine, starts it and waits for a condition. The reply says whether the condition was met, or why the
 * wait has ended before. Throws what `createMachine` throws, and the refusal of the start; then no machine is left.
 */
export const createUntil = async (
  context: MachineContext,
  request: CreateMachine,
  { until, owner, waiting, progress }: Options,
): Promise<CreatedMachine> => {
  const { driver, inventory } = context
  const condition = await parseCondition(until, { parameter: 'until', driver })
  const since = condition.kind === 'event' ? formatCursor(waiting.events.head()) : undefined
  const created = await createMachine(context, request, owner)
  try {
    await runVerb(context, created.id, 'start')
  } catch (error) {
    // The machine is new, so nobody misses it. Its deletion may fail for the same reason as its start.
    await removeMachine(context, created.id, { force: true }).catch(() => {})
    throw error
  }
  const { waitLimit, signal = waitLimit?.signal } = progress ?? {}
  const { end } = await waitFor(waiting, condition, {
    id: created.id,
    since,
    milliseconds: waitLimit?.milliseconds ?? defaultWait,
    endsWhenStopped: true,
    signal,
  })
  const view = inventory.get(created.id) ?? (await driver.get(created.id))
  return {
    ...created,
    current_state: view?.state ?? 'stopped',
    until: end,
    ip_configured: view?.addresses[0]?.ip ?? '-',
  }
}
