import { ServiceError } from '#lib/errors.ts'
import { applyChanges, type DefinitionChanges, currentValue } from '#lib/hypervisor/definition.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { refuseBeyondHost } from './capacity.ts'
import type { Allowed, MachineContext } from './context.ts'
import type { SetMachine, SetOutcome, SetResult } from './schemas.ts'
import { networkModeOf } from './network.ts'
import { readSetting } from './settings.ts'

interface Judged {
  readonly outcome: SetOutcome
  readonly fault?: ServiceError
  readonly change?: readonly [keyof DefinitionChanges, string | number]
}

/** All or none: with one operation wrong the others are shown as skipped. */
const refusal = (judged: readonly Judged[], fault: ServiceError): ServiceError => {
  const operations = judged.map(({ outcome }) =>
    outcome.status === 'Success' ? { ...outcome, status: 'Skipped' as const } : outcome,
  )
  return new ServiceError(fault.fault, `Nothing was changed. ${fault.message}`, { extra: { operations } })
}

/** Judges each operation by itself; `cell` is what the guard table says of the machine. Throws all when one is wrong. */
const judge = (
  { driver, host }: MachineContext,
  view: MachineView,
  cell: Allowed,
  request: SetMachine,
): readonly Judged[] => {
  const judged = request.operations.map((operation): Judged => {
    const { group, operation: name } = operation
    try {
      const change = readSetting(operation)
      refuseBeyondHost(host, Object.fromEntries([change]))
      if (change[0] === 'network' && !networkModeOf(view, driver.platform))
        throw new ServiceError('unsupported', `${view.name} has no network card.`)
      if (cell === 'hotplug' && !driver.features.hotplug.has(change[0]))
        throw new ServiceError('conflict', `${change[0]} cannot be changed while the machine runs; stop it first.`)
      return { change, outcome: { group, operation: name, status: 'Success', error: '' } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { fault: error, outcome: { group, operation: name, status: 'Error', error: error.message } }
    }
  })
  const fault = judged.find(one => one.fault)?.fault
  if (fault) throw refusal(judged, fault)
  return judged
}

/**
 * Changes a machine's definition by a list of operations, all or none (decisions: `set`).
 * With `dryRun` says for each what would change. Throws the first operation's fault, with `operations` beside it.
 */
export const setMachine = async (
  context: MachineContext,
  reference: string,
  request: SetMachine,
  { dryRun, work = noProgress }: { dryRun: boolean; work?: ProgressReporter },
): Promise<SetResult> => {
  const { driver, inventory, names, operations } = context
  const view = inventory.find(reference)
  // While something is under way nobody knows yet how the machine will be: only what is wrong in any case is refused now.
  const isUnclear = !dryRun && operations.shown(view.id) !== undefined
  const judged = judge(context, view, isUnclear ? 'run' : context.cell(view, 'configure'), request)
  const pairs = judged.flatMap(({ change }) => (change ? [change] : []))
  if (dryRun) {
    let { definition } = view
    return {
      operations: judged.map(({ outcome }, at) => {
        const [field, to] = pairs[at]!
        const from = currentValue(definition, field)
        definition = applyChanges(definition, { [field]: to })
        return { ...outcome, change: { field, from, to } }
      }),
    }
  }
  const changes: DefinitionChanges = Object.fromEntries(pairs)
  await context.operate({
    view,
    action: 'configure',
    key: `configure ${JSON.stringify(changes)}`,
    kind: () => 'configure',
    follow: work,
    async work(now) {
      judge(context, now.view, now.cell, request)
      using _name = changes.name === undefined ? undefined : names.reserve(changes.name, view.id)
      return await driver.configure(view.id, changes)
    },
  })
  return { operations: judged.map(({ outcome }) => outcome) }
}
