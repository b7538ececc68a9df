import type { Limits } from '../../machine-parts.ts'
import { getCardName, getDiskBus, getDiskName } from '../../parts.ts'
import { limitDisk } from '../hardware/limits.ts'
import { type Change, isRunning } from './change.ts'
import type { Step } from './step.ts'

/** Returns the steps that change the limits of a running machine. A part that comes with the change brings its limits. */
export const planLimitSteps = (change: Change): readonly Step[] => {
  const { view, next, running, attachments, network } = change
  const { definition } = view
  const { id, limits: before } = definition
  const hasChanged = (...names: readonly (keyof Limits)[]): boolean =>
    names.some(name => before?.[name] !== next.limits?.[name])
  /** A limit that could be given only in part is taken back. */
  const createStep = (give: (limits: Limits | undefined) => Promise<void>): Step => ({
    phase: 'give',
    async apply() {
      try {
        await give(next.limits)
      } catch (error) {
        await give(before).catch(running().warn)
        throw error
      }
    },
    undo: () => give(before),
  })

  if (!isRunning(change)) return []
  const steps: Step[] = []
  if (hasChanged('cpu_percent'))
    steps.push(createStep(limits => attachments.cpuGroups.limit(id, running().pid, limits?.cpu_percent)))
  if (hasChanged('network_bytes_per_second')) {
    const kept = new Set(next.networks.map(getCardName))
    const networks = definition.networks.filter((card, at) => kept.has(getCardName(card, at)))
    steps.push(createStep(limits => network.limit({ ...definition, networks, limits })))
  }
  if (hasChanged('disk_bytes_per_second', 'disk_operations_per_second')) {
    const kept = new Set(next.disks.map(getDiskName))
    for (const [at, disk] of definition.disks.entries()) {
      const [name, bus] = [getDiskName(disk, at), getDiskBus(definition, disk, at)]
      if (kept.has(name)) steps.push(createStep(limits => limitDisk(running().qmp, name, bus, limits)))
    }
  }
  return steps
}
