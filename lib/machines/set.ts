import { ServiceError } from '#lib/errors.ts'
import { applyChanges, type DefinitionChanges, getCurrentValue } from '#lib/hypervisor/definition.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { assertWithinHost } from './capacity.ts'
import type { AllowedTransition, MachineContext } from './context.ts'
import type { SetMachine, SetOutcome, SetResult } from './schemas.ts'
import { findNetworkMode } from './network.ts'
import { readSetting } from './settings.ts'

/** The outcome of checking one operation: the change that it asks for, or why it is refused. */
interface CheckedChange {
  readonly outcome: SetOutcome
  readonly fault?: ServiceError
  readonly change?: readonly [keyof DefinitionChanges, string | number]
}

/** Creates the refusal of a whole request. It lists the valid operations as skipped, because none is applied. */
const createRefusal = (checked: readonly CheckedChange[], fault: ServiceError): ServiceError => {
  const operations = checked.map(({ outcome }) =>
    outcome.status === 'Success' ? { ...outcome, status: 'Skipped' as const } : outcome,
  )
  return new ServiceError(fault.fault, `Nothing was changed. ${fault.message}`, { extra: { operations } })
}

/**
 * Checks each operation for a machine with this entry of the guard table. Throws the fault of the first one that is refused.
 */
const checkChanges = (
  { driver, host }: MachineContext,
  view: MachineView,
  transition: AllowedTransition,
  request: SetMachine,
): readonly CheckedChange[] => {
  const checked = request.operations.map((operation): CheckedChange => {
    const { group, operation: name } = operation
    try {
      const change = readSetting(operation)
      assertWithinHost(host, Object.fromEntries([change]))
      if (change[0] === 'network' && !findNetworkMode(view, driver.platform))
        throw new ServiceError('unsupported', `${view.name} has no network card.`)
      if (transition === 'hotplug' && !driver.features.hotplug.has(change[0]))
        throw new ServiceError('conflict', `${change[0]} cannot be changed while the machine runs; stop it first.`)
      return { change, outcome: { group, operation: name, status: 'Success', error: '' } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { fault: error, outcome: { group, operation: name, status: 'Error', error: error.message } }
    }
  })
  const fault = checked.find(each => each.fault)?.fault
  if (fault) throw createRefusal(checked, fault)
  return checked
}

/** Returns the result of a dry run: for each operation the value before and after it. */
const previewChanges = ({ definition }: MachineView, checked: readonly CheckedChange[]): SetResult => {
  let current = definition
  const operations = checked.map(({ outcome, change }) => {
    if (!change) return outcome
    const [field, to] = change
    const from = getCurrentValue(current, field)
    current = applyChanges(current, { [field]: to })
    return { ...outcome, change: { field, from, to } }
  })
  return { operations }
}

/**
 * Changes the definition of a machine with a list of operations: all are applied, or none. With `dryRun` nothing changes, and the
 * result has the values before and after each operation. Throws the fault of the first operation that is refused, with the
 * outcome of all as `operations`.
 */
export const setMachine = async (
  context: MachineContext,
  reference: string,
  request: SetMachine,
  { dryRun, progress }: { dryRun: boolean; progress?: ProgressReporter },
): Promise<SetResult> => {
  const { driver, inventory, names, operations } = context
  const view = inventory.find(reference)
  // A running operation may change the state, so this refuses only what no state allows.
  const isBusy = !dryRun && operations.getTransientState(view.id) !== undefined
  const checked = checkChanges(context, view, isBusy ? 'run' : context.checkAction(view, 'configure'), request)
  if (dryRun) return previewChanges(view, checked)
  const changes: DefinitionChanges = Object.fromEntries(checked.flatMap(({ change }) => (change ? [change] : [])))
  await context.runOperation({
    view,
    action: 'configure',
    key: `configure ${JSON.stringify(changes)}`,
    chooseKind: () => 'configure',
    progress,
    async work(current) {
      checkChanges(context, current.view, current.transition, request)
      using _reservation = changes.name === undefined ? undefined : names.reserve(changes.name, view.id)
      return await driver.configure(view.id, changes)
    },
  })
  return { operations: checked.map(({ outcome }) => outcome) }
}
