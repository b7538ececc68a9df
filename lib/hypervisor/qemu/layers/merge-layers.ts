import { stat } from 'node:fs/promises'
import { abortable } from '#lib/async/abortable.ts'
import { syncFile } from '#lib/platform/files.ts'
import type { ImageLayers } from '../image-layers.ts'
import { readLayerAt } from '../layer.ts'
import type { MachineOperation } from '../machine.ts'
import { listBackingLayers } from '../open-layers.ts'
import type { Qmp } from '../qmp.ts'
import { chooseBase } from './choose-base.ts'
import { listDiskNodes } from './disk-nodes.ts'
import { endPause, listOverlayDisks } from './pause.ts'
import type { RunningDisk } from './put-overlays.ts'
import { type StreamJob, startStreamJob } from './stream-job.ts'

/** Layers of a disk that are to be merged into its uppermost image. */
interface Merge {
  readonly disk: RunningDisk
  /** The nodes of the disk in QEMU, the uppermost first. */
  readonly nodes: readonly string[]
  /** The index of the image that the uppermost one builds on afterwards, and its path. */
  readonly base: number
  readonly basePath: string
}

const measureAllocated = async (path: string): Promise<number> => (await stat(path)).blocks * 512

const planMerge = async (qmp: Qmp, disk: RunningDisk, registered: ImageLayers): Promise<Merge | undefined> => {
  const paths = [disk.path, ...(await listBackingLayers(disk.path, registered))]
  const base = chooseBase(await Promise.all(paths.map(measureAllocated)))
  if (base === undefined) return undefined
  const nodes = await listDiskNodes(qmp, disk.name)
  // A fork may have been started on layers that its source has merged since. Its next start opens what the headers name.
  if (nodes.length !== paths.length) return undefined
  const { backing } = await readLayerAt(paths[base - 1]!)
  return backing === undefined ? undefined : { disk, nodes, base, basePath: backing }
}

/** Has the images build on their new bases, when all that was copied is durable. */
const finishMerges = async (
  { machine, continueGuest }: MachineOperation,
  { qmp, jobs, disks }: { readonly qmp: Qmp; readonly jobs: readonly StreamJob[]; readonly disks: readonly string[] },
): Promise<void> => {
  // Most is written before the pause, which is short then.
  for (const path of disks) await syncFile(path)
  try {
    // QEMU writes all of its caches when the guest is stopped. There is no other command for it.
    await qmp.execute('stop')
    for (const job of jobs) await job.finish()
  } finally {
    await endPause(qmp, machine.view().state).catch(() => continueGuest(qmp))
  }
  for (const path of disks) await syncFile(path)
}

/**
 * Merges layers of the disks of a machine that runs or is paused, so that one more overlay fits on each. The guest goes on meanwhile;
 * it has one short pause. Returns true if something was merged: layers may be unused then. The disks read the same at every moment,
 * whoever is killed. Throws `no-space`, `upstream`, and the reason of `signal`.
 */
export const mergeLayers = async (
  operation: MachineOperation,
  registered: ImageLayers,
  signal: AbortSignal,
): Promise<boolean> => {
  const { machine, control, journal } = operation
  const { qmp } = await control.connect()
  const merges: Merge[] = []
  for (const disk of await listOverlayDisks(machine.view())) {
    const merge = await planMerge(qmp, disk, registered)
    if (merge) merges.push(merge)
  }
  if (merges.length === 0) return false
  await journal.writeOperation({ verb: 'merge', from: machine.view().state })
  try {
    await using stack = new AsyncDisposableStack()
    const jobs: StreamJob[] = []
    for (const { nodes, base, basePath } of merges) {
      const stream = { node: nodes[0]!, base: nodes[base]!, basePath }
      const job = stack.use(await startStreamJob({ qmp, subscribe: control.subscribe }, stream))
      jobs.push(job)
      await abortable(job.copied, signal)
    }
    await finishMerges(operation, { qmp, jobs, disks: merges.map(({ disk }) => disk.path) })
  } finally {
    await journal.writeOperation(undefined).catch(machine.warn)
  }
  // QEMU closes the images that it was given one by one only when it is told to.
  for (const { nodes, base } of merges)
    for (const node of nodes.slice(1, base)) await qmp.execute('blockdev-del', { 'node-name': node }).catch(() => {})
  return true
}
