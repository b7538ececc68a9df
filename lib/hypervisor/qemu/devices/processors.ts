import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Device } from '../arguments/options.ts'
import { type Change, isRunning, refuseWhileRunning } from './change.ts'
import { plug, unplug } from './plug.ts'
import type { Step } from './step.ts'

/** The used part of QEMU's reply to `query-hotpluggable-cpus`. A processor that is there has a path. */
const Processors = z.array(
  z.object({ type: z.string(), props: z.record(z.string(), z.number()), 'qom-path': z.string().optional() }),
)

/** Returns the step that adds processors to a running machine. Throws `conflict` for fewer, or more than it was started for. */
export const planProcessorSteps = (change: Change): readonly Step[] => {
  const { view, next, running } = change
  const { cpus: before, max_cpus = before } = view.definition
  const count = next.cpus - before
  if (!isRunning(change) || count === 0) return []
  if (count < 0) refuseWhileRunning('cpus', ' to fewer')
  if (next.cpus > max_cpus) refuseWhileRunning('cpus', ` to more than max_cpus, which is ${max_cpus}`)
  let plugged: (Device & { readonly id: string })[] = []
  const remove = async (): Promise<void> => {
    for (const device of plugged.toReversed()) await unplug(running(), device)
  }
  return [
    {
      phase: 'give',
      record: definition => ({ ...definition, cpus: next.cpus }),
      async apply() {
        plugged = []
        const all = Processors.parse(await running().qmp.execute('query-hotpluggable-cpus'))
        const free = all.filter(processor => processor['qom-path'] === undefined).toReversed()
        if (free.length < count)
          throw new ServiceError('conflict', `The machine has room for ${free.length} more CPUs.`)
        // QEMU lists the last one first, and saved memory needs them without a gap.
        for (const [at, { type, props }] of free.slice(0, count).entries()) {
          const device = { ...props, driver: type, id: `cpu${before + at}` }
          try {
            await plug(running(), device)
          } catch (error) {
            await remove().catch(running().warn)
            throw error
          }
          plugged.push(device)
        }
      },
      undo: remove,
    },
  ]
}
