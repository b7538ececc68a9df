import { join } from 'node:path'
import type { Definition } from '../../definition.ts'
import type { Consistency } from '../../driver.ts'
import { getDiskName } from '../../parts.ts'
import { type CopyOptions, describeClonedDisk } from '../disks.ts'
import { findDiskNode } from '../layers/disk-nodes.ts'
import type { QemuMachine } from '../machine.ts'
import { backUpDisks } from './back-up-disks.ts'

/** Copies every disk of a running machine in full. Returns the definitions of the copies. Throws as `backUpDisks`. */
export const copyRunningDisks = async (
  { source, attachments, home, folder, images, deadline, onProgress }: CopyOptions,
  { control, agentPort }: Pick<QemuMachine, 'control' | 'agentPort'>,
  onConsistency?: (consistency: Consistency) => void,
): Promise<Definition['disks']> => {
  const copies = source.disks.map(describeClonedDisk)
  const { qmp } = await control.connect()
  const consistency = await backUpDisks({
    qmp,
    agent: agentPort.current(),
    home,
    account: attachments.account,
    images,
    disks: await Promise.all(
      source.disks.map(async (disk, at) => ({
        node: (await findDiskNode(qmp, getDiskName(disk, at))).node,
        size: disk.size,
        to: join(folder, describeClonedDisk(disk, at).path),
      })),
    ),
    deadline,
    onProgress,
  })
  onConsistency?.(consistency)
  return copies
}
