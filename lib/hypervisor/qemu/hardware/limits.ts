import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import type { Limits } from '../../machine-parts.ts'
import { getCardName, getDiskBus, getDiskName } from '../../parts.ts'
import { type CpuGroups, createCpuLimitError } from '../cgroup/cpu-groups.ts'
import { hasTap } from '../network/taps.ts'
import type { Qmp } from '../qmp.ts'

/** Throws `unsupported` for limits that this host or a card of the machine cannot keep. */
export const assertLimits = (
  { limits = {}, networks }: Pick<Definition, 'limits' | 'networks'>,
  { problem }: Pick<CpuGroups, 'problem'>,
): void => {
  if (limits.cpu_percent !== undefined && problem !== undefined) throw createCpuLimitError(problem)
  const at = limits.network_bytes_per_second === undefined ? -1 : networks.findIndex(card => !hasTap(card))
  const card = networks[at]
  if (!card) return
  const [name, mode] = [getCardName(card, at), card.mode ?? 'isolated']
  throw new ServiceError(
    'unsupported',
    `limits: network_bytes_per_second is unsupported by the card ${name}, whose mode is ${mode}. Only bridge:NAME and network:NAME can keep it: give ${name} such a mode, remove it, or leave the limit out.`,
  )
}

/** Applies the limits of a machine to one of its disks, while it runs too. `bus` is that of the disk. */
export const limitDisk = async (qmp: Qmp, disk: string, bus: 'virtio' | 'ide', limits: Limits = {}): Promise<void> => {
  const { disk_bytes_per_second: bps = 0, disk_operations_per_second: iops = 0 } = limits
  const unlimited = { bps_rd: 0, bps_wr: 0, iops_rd: 0, iops_wr: 0 }
  // The image belongs to the inner device of a virtio disk.
  const id = bus === 'virtio' ? `/machine/peripheral/${disk}/virtio-backend` : disk
  await qmp.execute('block_set_io_throttle', { id, bps, iops, ...unlimited })
}

/** Applies the limits of a machine to all of its disks. */
export const limitDisks = async (qmp: Qmp, definition: Definition): Promise<void> => {
  const { disks, limits } = definition
  if (limits === undefined) return
  for (const [at, disk] of disks.entries())
    await limitDisk(qmp, getDiskName(disk, at), getDiskBus(definition, disk, at), limits)
}
