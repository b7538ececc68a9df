import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import type { HypervisorDriver, MachineUsage } from '#lib/hypervisor/driver.ts'
import type { Inventory } from './inventory.ts'

/** What a running machine has used of its host. */
export type MeasuredMachine = { readonly id: string; readonly name: string } & MachineUsage

/** Machines that are measured at the same time. */
const concurrency = 16
/** Milliseconds for which a measurement is cached, whoever asks. */
const cacheTime = 10_000

async function* listRunning({ listViews }: Pick<Inventory, 'listViews'>) {
  for (const view of listViews()) if (view.state === 'running' || view.state === 'paused') yield view
}

/**
 * Creates a function that measures all running machines. It measures them at most once in ten seconds, and once for callers at the
 * same time. A machine that does not answer is left out.
 */
export const createUsageMeter = (
  driver: Pick<HypervisorDriver, 'measure'>,
  inventory: Pick<Inventory, 'listViews'>,
): (() => Promise<readonly MeasuredMachine[]>) => {
  const measureAll = async (): Promise<readonly MeasuredMachine[]> => {
    const measured: MeasuredMachine[] = []
    await forEachConcurrent(listRunning(inventory), concurrency, async ({ id, name }) => {
      const usage = await driver.measure?.(id)
      if (usage) measured.push({ id, name, ...usage })
    })
    return measured
  }
  let last: { readonly until: number; readonly result: Promise<readonly MeasuredMachine[]> } | undefined
  return () => {
    if (!last || last.until < performance.now()) last = { until: performance.now() + cacheTime, result: measureAll() }
    return last.result
  }
}
