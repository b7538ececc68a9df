import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import type { EffectTime } from '../../driver.ts'
import { type HardwareMember, isModern, listChangedHardware } from '../../parts.ts'
import { requireFirmware } from '../hardware/firmware.ts'
import { assertLimits } from '../hardware/limits.ts'
import { assertIdePlaces, assignPorts } from '../hardware/ports.ts'
import { planCdRomSteps } from './cdroms.ts'
import { type Change, isRunning, refuseWhileRunning } from './change.ts'
import { planDiskSteps } from './disks.ts'
import { planLimitSteps } from './limits.ts'
import { arrangeMemory, planMemorySteps } from './memory.ts'
import { planNetworkSteps } from './networks.ts'
import { planProcessorSteps } from './processors.ts'
import type { Step } from './step.ts'

/** When a change of each member takes effect if the machine runs. `never`: the machine must be stopped first. */
const effectsWhileRunning: Readonly<Record<HardwareMember, EffectTime | 'never'>> = {
  cpus: 'now',
  memory: 'now',
  memory_modules: 'now',
  disks: 'now',
  detached_disks: 'now',
  networks: 'now',
  kernel: 'never',
  initrd: 'never',
  cmdline: 'never',
  machine_type: 'never',
  firmware: 'never',
  display: 'never',
  max_memory: 'never',
  max_cpus: 'never',
  boot_order: 'at the next start',
  cdroms: 'now',
  forwards: 'never',
  shared_folders: 'never',
  limits: 'now',
}

/** The steps of a change, and the definition after them. */
export interface Plan {
  readonly next: Definition
  readonly steps: readonly Step[]
  readonly effect: EffectTime
}

const assertPossible = (
  { view: { definition }, next, attachments }: Change,
  changed: readonly HardwareMember[],
): void => {
  assertIdePlaces(next)
  // A machine whose limits cannot be kept any more can still be changed in other ways.
  if (changed.includes('limits') || changed.includes('networks')) assertLimits(next, attachments.cpuGroups)
  if (next.display && !isModern(next))
    throw new ServiceError('unsupported', 'A screen is unsupported by machines of the type pc.')
  if (next.firmware === 'uefi' && definition.firmware !== 'uefi') {
    requireFirmware(attachments.firmware)
    if (!isModern(next))
      throw new ServiceError('unsupported', 'UEFI firmware is unsupported by machines of the type pc.')
  }
}

/** Plans a change of a machine. Throws `conflict`, `invalid` and `unsupported` for what it cannot take. */
export const planChange = (wanted: Change): Plan => {
  const { definition } = wanted.view
  const changed = listChangedHardware(definition, wanted.next)
  // The memory of a suspended machine needs its parts as they are.
  if (changed.length === 0) return { next: wanted.next, steps: [], effect: 'now' }
  const hot = isRunning(wanted)
  const next = assignPorts(arrangeMemory(definition, wanted.next, hot), hot ? definition : undefined)
  const change = { ...wanted, next }
  assertPossible(change, changed)
  const frozen = changed.find(member => effectsWhileRunning[member] === 'never')
  if (hot && frozen) refuseWhileRunning(frozen)
  return {
    next,
    steps: [
      ...planProcessorSteps(change),
      ...planMemorySteps(change),
      ...planDiskSteps(change),
      ...planNetworkSteps(change),
      ...planCdRomSteps(change),
      ...planLimitSteps(change),
    ],
    effect:
      hot && changed.some(member => effectsWhileRunning[member] === 'at the next start') ? 'at the next start' : 'now',
  }
}
