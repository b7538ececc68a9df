import { rm } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import type { Disk } from '../../machine-parts.ts'
import { getDiskBus, getDiskName } from '../../parts.ts'
import { describeDisk, describeDiskNode } from '../arguments/disks.ts'
import { createDisk } from '../disks.ts'
import { limitDisk } from '../hardware/limits.ts'
import { deleteDiskNodes, findDiskNode } from '../layers/disk-nodes.ts'
import { setFileOwner } from '../ownership.ts'
import {
  assertTakesParts,
  type Change,
  compareParts,
  isRunning,
  type PartChange,
  refuseWhileRunning,
  recordPart,
} from './change.ts'
import { assertReachable, openDiskForRunning } from './host-paths.ts'
import { plug, unplug } from './plug.ts'
import type { Step } from './step.ts'

type UndoableStep = Step & Required<Pick<Step, 'undo'>>

const listOwnFiles = ({ disks, detached_disks = [] }: Definition): readonly string[] =>
  [...disks, ...detached_disks].map(({ path }) => path).filter(path => !isAbsolute(path))

const createImage = ({ view: { home }, images, attachments }: Change, disk: Disk): UndoableStep => ({
  phase: 'give',
  async apply() {
    const { account, openImage } = attachments
    await createDisk(disk, home, { images, openImage })
    if (account) await setFileOwner(join(home, disk.path), account)
  },
  undo: () => rm(join(home, disk.path), { force: true }),
})

const deleteImage = ({ view: { home } }: Change, path: string): Step => ({
  phase: 'give',
  apply: async () => {},
  undo: async () => {},
  finish: () => rm(join(home, path), { force: true }),
})

const addToRunning = (change: Change, name: string, disk: Disk): UndoableStep => {
  const { next, running } = change
  assertTakesParts(change, name)
  if (getDiskBus(next, disk, 0) === 'ide') refuseWhileRunning(name, ', for IDE disks are part of the board')
  if (disk.port === undefined) refuseWhileRunning(name, ', for it has no free slot')
  if (isAbsolute(disk.path) || disk.image !== undefined) assertReachable(change, name)
  const device = describeDisk(name, disk)
  return {
    phase: 'give',
    record: recordPart('disks', name, disk),
    async apply() {
      await using stack = new AsyncDisposableStack()
      const { qmp } = running()
      await qmp.execute('blockdev-add', describeDiskNode(name, await openDiskForRunning(change, disk, stack)))
      try {
        await plug(running(), device)
      } catch (error) {
        await qmp.execute('blockdev-del', { 'node-name': name }).catch(running().warn)
        throw error
      }
      await limitDisk(qmp, name, 'virtio', next.limits)
    },
    async undo() {
      await unplug(running(), device)
      await running().qmp.execute('blockdev-del', { 'node-name': name })
    },
  }
}

const removeFromRunning = (change: Change, name: string, disk: Disk): Step => {
  const { running, view } = change
  if (disk.port === undefined) refuseWhileRunning(name, ', for it is part of the board')
  let device = describeDisk(name, disk)
  return {
    phase: 'release',
    record: recordPart('disks', name, undefined),
    async apply() {
      device = { ...device, drive: (await findDiskNode(running().qmp, name)).node }
      await unplug(running(), device)
    },
    async undo() {
      await plug(running(), device)
      await limitDisk(running().qmp, name, 'virtio', view.definition.limits)
    },
    finish: () => deleteDiskNodes(running().qmp, name),
  }
}

/** Joins two steps, so that the first is not undone if that of the second fails. */
const joinSteps = (first: UndoableStep, second: UndoableStep): Step => ({
  ...second,
  async apply() {
    await first.apply()
    try {
      await second.apply()
    } catch (error) {
      await first.undo()
      throw error
    }
  },
  async undo() {
    await second.undo()
    await first.undo()
  },
})

/** A disk can become larger, not smaller. Its new end cannot be taken away again, since the guest may use it at once. */
const resize = (change: Change, name: string, before: Disk, after: Disk): Step => {
  const { view, images, running } = change
  if (isAbsolute(before.path))
    throw new ServiceError('unsupported', `${name} is an image of the host, which the service does not resize.`)
  if (before.format === 'raw') throw new ServiceError('unsupported', `${name} is a raw image, which is not resized.`)
  if (after.size < before.size)
    throw new ServiceError('invalid', `${name} has ${before.size / 2 ** 20} MB; a disk can only become larger.`)
  return {
    phase: 'grow',
    async apply() {
      if (isRunning(change)) {
        const { qmp } = running()
        await qmp.execute('block_resize', { 'node-name': (await findDiskNode(qmp, name)).node, size: after.size })
      } else await images.grow(join(view.home, before.path), after.size)
    },
    record: definition => ({
      ...definition,
      disks: definition.disks.map((disk, at) =>
        getDiskName(disk, at) === name ? { ...disk, size: after.size } : disk,
      ),
    }),
  }
}

const planDisk = (change: Change, own: readonly string[], { name, before, after }: PartChange<Disk>): Step[] => {
  if (!before) {
    const isNew = !isAbsolute(after.path) && !own.includes(after.path)
    const create = isNew ? createImage(change, after) : undefined
    const add = isRunning(change) ? addToRunning(change, name, after) : undefined
    return create && add ? [joinSteps(create, add)] : [create ?? add].filter(step => step !== undefined)
  }
  if (!after) return isRunning(change) ? [removeFromRunning(change, name, before)] : []
  const { size: _, ...others } = before
  const { size: __, ...otherMembers } = after
  const isOther = JSON.stringify({ ...others, name }) !== JSON.stringify({ ...otherMembers, name })
  if (isOther && isRunning(change)) refuseWhileRunning(name)
  return before.size === after.size ? [] : [resize(change, name, before, after)]
}

/** Returns the steps that change the disks of a machine. Throws `conflict`, `invalid` and `unsupported`. */
export const planDiskSteps = (change: Change): readonly Step[] => {
  const { definition } = change.view
  const [own, kept] = [listOwnFiles(definition), listOwnFiles(change.next)]
  return [
    ...compareParts(definition.disks, change.next.disks, getDiskName).flatMap(part => planDisk(change, own, part)),
    ...own.filter(path => !kept.includes(path)).map(path => deleteImage(change, path)),
  ]
}
