import * as z from 'zod'
import type { CdRom } from '../../machine-parts.ts'
import { getDriveBus } from '../../parts.ts'
import { describeDrive, describeMedium, getMediumName } from '../arguments/cdroms.ts'
import {
  assertTakesParts,
  type Change,
  compareParts,
  isRunning,
  type PartChange,
  refuseWhileRunning,
  recordPart,
} from './change.ts'
import { assertReachable, hasMedium, type Medium, openMediumForRunning } from './host-paths.ts'
import { plug, unplug } from './plug.ts'
import type { Step } from './step.ts'

/** Replaces the medium of a drive, whatever its guest says. With an empty medium the drive is empty afterwards. */
const changeMedium = async (change: Change, name: string, next: Medium): Promise<void> => {
  await using stack = new AsyncDisposableStack()
  const { qmp } = change.running()
  const path = await openMediumForRunning(change, next, stack)
  const medium = path === undefined ? undefined : describeMedium(name, path)
  await qmp.execute('blockdev-open-tray', { id: name, force: true })
  await qmp.execute('blockdev-remove-medium', { id: name })
  const nodes = z.array(z.object({ 'node-name': z.string() })).parse(await qmp.execute('query-named-block-nodes'))
  const node = getMediumName(name)
  if (nodes.some(one => one['node-name'] === node)) await qmp.execute('blockdev-del', { 'node-name': node })
  if (medium) {
    await qmp.execute('blockdev-add', medium)
    await qmp.execute('blockdev-insert-medium', { id: name, 'node-name': node })
  }
  await qmp.execute('blockdev-close-tray', { id: name })
}

const exchangeMedium = (change: Change, name: string, before: CdRom, after: CdRom): Step => {
  if (hasMedium(after)) assertReachable(change, name)
  return {
    phase: 'give',
    record: recordPart('cdroms', name, after),
    apply: () => changeMedium(change, name, after),
    undo: () => changeMedium(change, name, before),
  }
}

const addDrive = (change: Change, drive: CdRom): Step => {
  const { next, running } = change
  const { name } = drive
  assertTakesParts(change, name)
  if (getDriveBus(next, drive) === 'ide') refuseWhileRunning(name, ', for IDE drives are part of the board')
  if (hasMedium(drive)) assertReachable(change, name)
  const device = describeDrive({ name })
  return {
    phase: 'give',
    record: recordPart('cdroms', name, drive),
    async apply() {
      await plug(running(), device)
      if (hasMedium(drive)) await changeMedium(change, name, drive)
    },
    undo: () => unplug(running(), device),
  }
}

const removeDrive = (change: Change, drive: CdRom): Step => {
  const { view, running } = change
  const { name } = drive
  if (getDriveBus(view.definition, drive) === 'ide') refuseWhileRunning(name, ', for IDE drives are part of the board')
  const device = describeDrive({ name })
  return {
    phase: 'release',
    record: recordPart('cdroms', name, undefined),
    async apply() {
      await changeMedium(change, name, {})
      await unplug(running(), device)
    },
    async undo() {
      await plug(running(), device)
      await changeMedium(change, name, drive)
    },
  }
}

const planDrive = (change: Change, { name, before, after }: PartChange<CdRom>): Step[] => {
  if (!isRunning(change)) return []
  if (!before) return [addDrive(change, after)]
  if (!after) return [removeDrive(change, before)]
  if (before.bus !== after.bus) refuseWhileRunning(name)
  return [exchangeMedium(change, name, before, after)]
}

/** Returns the steps that change the CD-ROM drives of a machine and their media. Throws `conflict`. */
export const planCdRomSteps = (change: Change): readonly Step[] =>
  compareParts(change.view.definition.cdroms ?? [], change.next.cdroms ?? [], ({ name }) => name).flatMap(part =>
    planDrive(change, part),
  )
