import type { ExportedMachine } from '#lib/hypervisor/driver.ts'
import { unfollowed, type Work } from '#lib/work.ts'
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
  { staging, suspend = false, work = unfollowed }: { staging: string; suspend?: boolean; work?: Work },
  use: (machine: LentMachine, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { driver, inventory, operations, suspensions } = context
  const view = inventory.find(reference)
  const { id } = view
  const action = suspend ? 'export suspend' : 'export'
  const cell = operations.shown(id) ? 'run' : context.cell(view, action)
  work.plan([{ name: 'collect', title: 'Collect the files', weight: 10, unit: 'percent' }])
  const results: T[] = []
  const lend = async (deadline: AbortSignal): Promise<void> => {
    work.begin('collect')
    const progress = (part: number): void => work.advance('collect', Math.round(part * 1000) / 10, 100)
    await using machine = await driver.export(id, { staging, deadline, progress })
    work.end('collect')
    results.push(await use({ id, name: view.name, type: driver.kind, files: machine.files }, deadline))
  }
  await context.operate({
    view,
    said: 'being packed',
    // What each caller does with the files is its own, so a second call never joins the first.
    key: `export ${crypto.randomUUID()}`,
    kind: cell === 'suspend first' ? 'suspend' : 'export',
    limit: limits.export,
    signal: work.signal,
    work: async (deadline, operation) => {
      const now = inventory.find(id)
      if (context.cell(now, action) === 'suspend first')
        await suspensions.during(now, deadline, operation, () => lend(deadline))
      else await lend(deadline)
      return (await driver.get(id)) ?? view
    },
  })
  return results[0]!
}
