import { ServiceError } from '#lib/errors.ts'
import type { Changes } from '#lib/hypervisor/definition.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { MachineContext } from './context.ts'
import type { SetMachine, SetOutcome, SetResult } from './schemas.ts'
import { readSetting } from './settings.ts'
import { limits } from './states.ts'

interface Judged {
  readonly outcome: SetOutcome
  readonly fault?: ServiceError
  readonly change?: readonly [keyof Changes, string | number]
}

/** Judges each operation by itself against the machine as it is; nothing is changed. */
const judge = (context: MachineContext, view: MachineView, request: SetMachine): readonly Judged[] => {
  const cell = context.cell(view, 'configure')
  return request.operations.map(operation => {
    const { group, operation: name } = operation
    try {
      const change = readSetting(operation)
      if (cell === 'hotplug' && !context.driver.features.hotplug.has(change[0]))
        throw new ServiceError('conflict', `${change[0]} cannot be changed while the machine runs; stop it first.`)
      return { change, outcome: { group, operation: name, status: 'Success', error: '' } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { fault: error, outcome: { group, operation: name, status: 'Error', error: error.message } }
    }
  })
}

/** All or none: with one operation wrong the others are shown as skipped. */
const refusal = (judged: readonly Judged[], fault: ServiceError): ServiceError => {
  const operations = judged.map(({ outcome }) =>
    outcome.status === 'Success' ? { ...outcome, status: 'Skipped' as const } : outcome,
  )
  return new ServiceError(fault.fault, `Nothing was changed. ${fault.message}`, { extra: { operations } })
}

/**
 * Changes a machine's definition by a list of operations, all or none (decisions: `set`).
 * With `dryRun` says for each what would change. Throws the first operation's fault, with `operations` beside it.
 */
export const setMachine = async (
  context: MachineContext,
  reference: string,
  request: SetMachine,
  { dryRun }: { dryRun: boolean },
): Promise<SetResult> => {
  const view = context.inventory.find(reference)
  const judged = judge(context, view, request)
  const fault = judged.find(one => one.fault)?.fault
  if (fault) throw refusal(judged, fault)
  const pairs = judged.flatMap(({ change }) => (change ? [change] : []))
  if (dryRun) {
    let { definition } = view
    return {
      operations: judged.map(({ outcome }, at) => {
        const [field, to] = pairs[at]!
        const from = definition[field]
        definition = { ...definition, [field]: to }
        return { ...outcome, change: { field, from, to } }
      }),
    }
  }
  const changes: Changes = Object.fromEntries(pairs)
  await context.operate({
    view,
    key: `configure ${JSON.stringify(changes)}`,
    kind: 'configure',
    limit: limits.configure,
    work: async () => {
      using _name = changes.name === undefined ? undefined : context.names.reserve(changes.name, view.id)
      return context.driver.configure(view.id, changes)
    },
  })
  return { operations: judged.map(({ outcome }) => outcome) }
}
