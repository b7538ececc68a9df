import type { Principal } from '#lib/access/principal.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import type { ExportedMachine } from '#lib/hypervisor/driver.ts'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'
import { findReadableSnapshot, requireSnapshots } from './snapshots/find.ts'
import { timeLimits } from './states.ts'

/**
 * The files of a machine. Nothing else can happen to the machine until the handle is disposed of; then a machine that was
 * suspended for the export runs again. The disposal throws if the machine could not be resumed.
 */
export interface ExportHandle extends AsyncDisposable {
  readonly id: string
  readonly name: string
  /** The kind of the driver. */
  readonly type: string
  /** The definition of the machine at the time of the export. */
  readonly definition: Definition
  readonly files: ExportedMachine['files']
  /**
   * Aborted when the export is cancelled, reaches its time limit or is preempted by a forced stop. Its holder must then stop
   * reading: after a grace period the machine is free again.
   */
  readonly signal: AbortSignal
}

export interface ExportOptions {
  /** An empty private folder for the copies of files that cannot be read in place. */
  readonly staging: string
  /** Whether a running machine may be suspended during the export. */
  readonly suspend?: boolean
  /** The id or name of the snapshot whose files are wanted; those of the present machine when left out. */
  readonly snapshot?: string | undefined
  /** Who wants the snapshot. */
  readonly caller?: Principal
  readonly progress?: ProgressReporter
}

/**
 * Opens the files of a stopped machine. With `suspend` also those of a suspended machine, and those of a running one, which
 * is suspended until the handle is disposed of. Those of a snapshot can be had in any state. Adds the step `collect` to the progress.
 * Throws `not-found`, `conflict` (state, busy), `forbidden` for a caller who may not see the snapshot, and the refusals of the driver.
 */
export const exportMachine = async (
  context: MachineContext,
  reference: string,
  { staging, suspend = false, snapshot: wanted, caller, progress = noProgress }: ExportOptions,
): Promise<ExportHandle> => {
  const { driver, inventory, suspensions } = context
  const view = inventory.find(reference)
  const { id, name } = view
  const snapshot = wanted === undefined ? undefined : findReadableSnapshot(context, view, wanted, caller)
  progress.plan([{ name: 'collect', title: 'Collect the files', weight: 10, unit: 'percent' }])
  const opened = Promise.withResolvers<ExportHandle>()
  const released = Promise.withResolvers<void>()
  const holdFiles = async (definition: Definition, deadline: AbortSignal): Promise<void> => {
    progress.begin('collect')
    const onProgress = (fraction: number): void => progress.advance('collect', Math.round(fraction * 1000) / 10, 100)
    const options = { staging, deadline, onProgress }
    await using exported = await (snapshot
      ? requireSnapshots(driver).export(id, snapshot.id, options)
      : driver.export(id, options))
    progress.end('collect')
    opened.resolve({
      id,
      name,
      type: driver.kind,
      definition: snapshot?.definition ?? definition,
      files: exported.files,
      signal: deadline,
      async [Symbol.asyncDispose]() {
        released.resolve()
        // The holder knows from the signal that the operation was aborted.
        await ended.catch((error: unknown) => {
          if (error !== deadline.reason) throw error
        })
      },
    })
    await released.promise
    deadline.throwIfAborted()
  }
  const ended = context.runOperation({
    view,
    action: snapshot ? 'copy snapshot' : suspend ? 'export suspend' : 'export',
    label: 'being packed',
    // Each caller reads the files for a purpose of its own, so a second call never joins the first.
    key: `export ${crypto.randomUUID()}`,
    chooseKind: transition => (transition === 'suspend first' ? 'suspend' : 'export'),
    timeLimit: timeLimits.export,
    progress,
    async work(current, deadline, control) {
      // Exports only read, so a disk or a storage that hangs keeps the machine busy no longer than the grace period.
      const holdUntilAborted = (): Promise<void> =>
        abortableAfterGrace(deadline, holdFiles(current.view.definition, deadline))
      if (current.transition === 'suspend first')
        await suspensions.runWhileSuspended(current.view, deadline, control, holdUntilAborted)
      else await holdUntilAborted()
      return (await driver.get(id)) ?? view
    },
  })
  ended.catch(opened.reject)
  return opened.promise
}
