import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Forward } from '#lib/hypervisor/machine-parts.ts'
import type { MachineContext } from '../context.ts'
import { assertAddressAllowed, assertPortsFree, formatForwardId } from './check.ts'
import { type ForwardRecord, maxForwards, type NewForward } from './schemas.ts'

const toRecord = (forward: Forward): ForwardRecord => ({ id: formatForwardId(forward), ...forward })

/** Returns the forwards of a machine. Throws `not-found`. */
export const listForwards = ({ inventory }: Pick<MachineContext, 'inventory'>, reference: string): ForwardRecord[] =>
  (inventory.find(reference).definition.forwards ?? []).map(toRecord)

const requireSetForwards = ({ kind, setForwards }: HypervisorDriver): NonNullable<typeof setForwards> => {
  if (setForwards) return setForwards
  throw new ServiceError('unsupported', `Forwards are unsupported by the ${kind} driver.`)
}

/** Replaces the forwards of a machine by those that `choose` makes of the present ones. */
const changeForwards = async (
  context: MachineContext,
  reference: string,
  choose: (present: readonly Forward[], view: MachineView) => readonly Forward[],
  progress?: ProgressReporter,
): Promise<void> => {
  const view = context.inventory.find(reference)
  const setForwards = requireSetForwards(context.driver)
  await context.runOperation({
    view,
    action: 'configure',
    // Each change is one of its own, so a second call never joins the first.
    key: `forwards ${crypto.randomUUID()}`,
    chooseKind: () => 'configure',
    progress,
    work: async ({ view: current }) => setForwards(view.id, choose(current.definition.forwards ?? [], current)),
  })
}

/**
 * Opens a port of the host that leads to a port of the guest: at once if the machine runs, else when it starts. Throws `forbidden`
 * for an address that the settings do not allow, `conflict` for a port that is taken, `unsupported` for a machine without an
 * isolated card.
 */
export const addForward = async (
  context: MachineContext,
  reference: string,
  forward: NewForward,
  progress?: ProgressReporter,
): Promise<ForwardRecord> => {
  assertAddressAllowed(forward, context.forwardAddresses)
  await changeForwards(
    context,
    reference,
    (present, { name }) => {
      if (present.length >= maxForwards)
        throw new ServiceError('conflict', `${name} has ${maxForwards} forwards, which is all that a machine can have.`)
      assertPortsFree([forward], context.inventory.listViews())
      return [...present, forward]
    },
    progress,
  )
  return toRecord(forward)
}

/** Closes the port of a forward. Connections that exist stay. Throws `not-found`. */
export const removeForward = async (
  context: MachineContext,
  reference: string,
  forwardId: string,
  progress?: ProgressReporter,
): Promise<void> =>
  changeForwards(
    context,
    reference,
    (present, { name }) => {
      const left = present.filter(forward => formatForwardId(forward) !== forwardId)
      if (left.length < present.length) return left
      throw new ServiceError('not-found', `${name} has no forward ${forwardId}.`)
    },
    progress,
  )
