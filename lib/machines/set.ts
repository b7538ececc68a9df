import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { EffectTime, MachineView } from '#lib/hypervisor/driver.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { assertDisksFit, assertWithinHost, sumOwnDisks } from './capacity.ts'
import { cloneMachine } from './clone.ts'
import type { MachineContext } from './context.ts'
import { runVerb } from './run.ts'
import type { SetMachine, SetOutcome, SetResult } from './schemas.ts'
import { readAction, type SetAction } from './settings/actions.ts'
import { leaseNamedImages } from './settings/images.ts'
import type { Change, NamedImages, SetOperation } from './settings/setting.ts'
import { isLifecycleSetting, readSetting } from './settings/table.ts'

/** The outcome of checking one operation: the change that it asks for, or why it is refused. */
interface CheckedChange {
  readonly outcome: SetOutcome
  readonly fault?: ServiceError
  readonly change?: { readonly change: Change; readonly before: Definition; readonly after: Definition }
  readonly effect?: EffectTime
}

/** Creates the refusal of a whole request. It lists the valid operations as skipped, because none is applied. */
const createRefusal = (checked: readonly CheckedChange[], fault: ServiceError): ServiceError => {
  const operations = checked.map(({ outcome }) =>
    outcome.status === 'Success' ? { ...outcome, status: 'Skipped' as const } : outcome,
  )
  return new ServiceError(fault.fault, `Nothing was changed. ${fault.message}`, { extra: { operations } })
}

interface ChangeLimits {
  readonly images: NamedImages
  /** MB of the file system that has the machines. */
  readonly diskSize: number
}

/**
 * Checks each operation for a machine with this view, which has the changes of those before it. Throws the fault of the first
 * one that is refused.
 */
const checkChanges = (
  { driver, host }: MachineContext,
  view: MachineView,
  request: SetMachine,
  { images, diskSize }: ChangeLimits,
): readonly CheckedChange[] => {
  let before = view.definition
  const checked = request.operations.map((operation): CheckedChange => {
    const { group, operation: name } = operation
    try {
      const change = readSetting(operation, before, images)
      const after = change.apply(before)
      assertWithinHost(host, {
        ...(after.cpus !== before.cpus && { cpus: after.cpus }),
        ...(after.memory !== before.memory && { memory: after.memory }),
      })
      if (sumOwnDisks(after) > sumOwnDisks(before)) assertDisksFit(diskSize, sumOwnDisks(after))
      const effect = driver.checkChange({ ...view, definition: before }, after)
      const result = { change, before, after }
      before = after
      return { change: result, effect, outcome: { group, operation: name, status: 'Success', error: '' } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { fault: error, outcome: { group, operation: name, status: 'Error', error: error.message } }
    }
  })
  const fault = checked.find(each => each.fault)?.fault
  if (fault) throw createRefusal(checked, fault)
  // Together the changes may be more than a machine takes, although each alone is not.
  driver.checkChange(view, before)
  return checked
}

/** Returns the result of a dry run: for each operation the value before and after it, and when it takes effect. */
const previewChanges = (checked: readonly CheckedChange[]): SetResult => ({
  operations: checked.map(({ outcome, change: result, effect }) => {
    if (!result) return outcome
    const { change, before, after } = result
    return {
      ...outcome,
      change: { field: change.field, from: change.read(before), to: change.read(after) },
      ...(effect && { effect }),
    }
  }),
})

interface SetOptions {
  readonly dryRun: boolean
  /** Milliseconds that a guest has to shut down. */
  readonly stopTimeout: number
  readonly progress?: ProgressReporter
}

/** Runs an operation that changes no definition. With `dryRun` only checks it. */
const runAction = async (
  context: MachineContext,
  view: MachineView,
  { group, operation }: SetOperation,
  action: SetAction,
  { dryRun, ...options }: SetOptions,
): Promise<SetResult> => {
  if (dryRun) context.checkAction(view, 'verb' in action ? action.verb : 'clone')
  else if ('verb' in action) await runVerb(context, view.id, action.verb, options)
  else await cloneMachine(context, view.id, action.clone ?? `${view.name} copy`, { linked: false, ...options })
  return { operations: [{ group, operation, status: 'Success', error: '' }] }
}

/**
 * Changes the definition of a machine with a list of operations: all are applied, or none. With `dryRun` nothing changes, and the
 * result has the values before and after each operation. A request can also be one action, such as a start. Throws the fault of the
 * first operation that is refused, with the outcome of all as `operations`.
 */
export const setMachine = async (
  context: MachineContext,
  reference: string,
  request: SetMachine,
  options: SetOptions,
): Promise<SetResult> => {
  const { driver, inventory, names, operations } = context
  const { dryRun, progress } = options
  const view = inventory.find(reference)
  for (const operation of request.operations) {
    const setAction = readAction(operation)
    if (!setAction) continue
    if (request.operations.length > 1)
      throw new ServiceError(
        'invalid',
        `${operation.group} ${operation.operation} cannot be undone, so it must be the only operation of its request.`,
      )
    return runAction(context, view, operation, setAction, options)
  }
  // A running operation may change the state, so this refuses only what no state allows.
  const isBusy = !dryRun && operations.getTransientState(view.id) !== undefined
  const action = request.operations.every(isLifecycleSetting) ? 'configure lifecycle' : 'configure'
  if (!isBusy) context.checkAction(view, action)
  // The images stay until the definition shows that the machine uses them.
  using leased = await leaseNamedImages(request.operations, view.definition, context.leaseImage)
  const limits = { images: leased.images, diskSize: await context.host.readDiskSize() }
  const checked = checkChanges(context, isBusy ? { ...view, state: 'stopped' } : view, request, limits)
  if (dryRun) return previewChanges(checked)
  // Of two requests that each add a part, the second adds another one.
  const isRepeatable = request.operations.every(({ operation }) => operation !== 'add')
  await context.runOperation({
    view,
    action,
    key: `configure ${isRepeatable ? JSON.stringify(request.operations) : crypto.randomUUID()}`,
    chooseKind: () => 'configure',
    progress,
    async work(current) {
      const next = checkChanges(context, current.view, request, limits).at(-1)?.change?.after
      if (!next) return current.view
      using _reservation = next.name === current.view.name ? undefined : names.reserve(next.name, view.id)
      return await driver.configure(view.id, next)
    },
  })
  return { operations: checked.map(({ outcome }) => outcome) }
}
