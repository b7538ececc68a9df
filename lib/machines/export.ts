import type { ExportedMachine } from '#lib/hypervisor/driver.ts'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from './context.ts'
import { limits } from './states.ts'

/** A machine whose files are lent for a while. */
export interface LentMachine {
  readonly id: string
  readonly name: string
  /** Of the driver. */
  readonly type: string
  readonly files: ExportedMachine['files']
}

/**
 * Lends the files of a stopped machine to `use`, whose result it gives; `use` heeds the signal. Adds the step `collect` to
 * the work. With `suspend` also of a suspended machine, and of a running one, which is suspended meanwhile.
 * Throws `conflict` (state, busy), what the driver refuses with, and what `use` throws.
 */
export const exportMachine = async <T>(
  context: MachineContext,
  reference: string,
  { staging, suspend = false, work = noProgress }: { staging: string; suspend?: boolean; work?: ProgressReporter },
  use: (machine: LentMachine, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { driver, inventory, suspensions } = context
  const view = inventory.find(reference)
  const { id } = view
  work.plan([{ name: 'collect', title: 'Collect the files', weight: 10, unit: 'percent' }])
  const results: T[] = []
  const lend = async (deadline: AbortSignal): Promise<void> => {
    work.begin('collect')
    const onProgress = (fraction: number): void => work.advance('collect', Math.round(fraction * 1000) / 10, 100)
    await using machine = await driver.export(id, { staging, deadline, onProgress })
    work.end('collect')
    results.push(await use({ id, name: view.name, type: driver.kind, files: machine.files }, deadline))
  }
  await context.operate({
    view,
    action: suspend ? 'export suspend' : 'export',
    said: 'being packed',
    // What each caller does with the files is its own, so a second call never joins the first.
    key: `export ${crypto.randomUUID()}`,
    kind: cell => (cell === 'suspend first' ? 'suspend' : 'export'),
    limit: limits.export,
    follow: work,
    async work(now, deadline, operation) {
      // Files are only read: what hangs in a disk or a storage holds the machine no longer than this.
      const lendInTime = (): Promise<void> => abortableAfterGrace(deadline, lend(deadline))
      if (now.cell === 'suspend first') await suspensions.during(now.view, deadline, operation, lendInTime)
      else await lendInTime()
      return (await driver.get(id)) ?? view
    },
  })
  return results[0]!
}
