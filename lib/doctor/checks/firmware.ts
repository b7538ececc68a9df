import { findFirmware } from '#lib/hypervisor/qemu/hardware/firmware.ts'
import { createOk, createProblem, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

/** Checks that machines with UEFI find their firmware. */
export const checkFirmware = async ({ settings, needs, installPackage }: Surroundings): Promise<Finding> => {
  if (settings.driver === 'embedded') return createOk('The embedded driver has no UEFI.')
  const firmware = await findFirmware()
  if (firmware) return createOk(`UEFI firmware (${firmware.code})`)
  const remedy = installPackage('ovmf')
  return needs.uefi
    ? createProblem('There is no UEFI firmware, and machines here need it: they do not start.', remedy)
    : createWarning('There is no UEFI firmware, so machines can have BIOS only.', remedy)
}
