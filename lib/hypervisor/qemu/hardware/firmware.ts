import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { exists } from '#lib/platform/files.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { firmwareFile } from '../../files/machine-files.ts'
import type { Images } from '../images.ts'
import { readLayerAt } from '../layer.ts'

/** The files of a UEFI firmware, absolute: its code, and the template of a machine's variables. */
export interface Firmware {
  readonly code: string
  readonly variables: string
}

/** Where distributions put the firmware: Debian and Ubuntu, Fedora, Arch, and Homebrew. */
const places: readonly Firmware[] = [
  { code: '/usr/share/OVMF/OVMF_CODE_4M.fd', variables: '/usr/share/OVMF/OVMF_VARS_4M.fd' },
  { code: '/usr/share/edk2/ovmf/OVMF_CODE.fd', variables: '/usr/share/edk2/ovmf/OVMF_VARS.fd' },
  { code: '/usr/share/edk2/x64/OVMF_CODE.4m.fd', variables: '/usr/share/edk2/x64/OVMF_VARS.4m.fd' },
  {
    code: '/opt/homebrew/share/qemu/edk2-x86_64-code.fd',
    variables: '/opt/homebrew/share/qemu/edk2-i386-vars.fd',
  },
]

/** Returns the UEFI firmware of this host, or undefined if none is installed. */
export const findFirmware = async (): Promise<Firmware | undefined> => {
  for (const firmware of places)
    if ((await exists(firmware.code)) && (await exists(firmware.variables))) return firmware
  return undefined
}

/** Returns the firmware. Throws `unsupported` without one, with the package to install. */
export const requireFirmware = (firmware: Firmware | undefined): Firmware => {
  if (firmware) return firmware
  throw new ServiceError(
    'unsupported',
    'firmware: uefi needs OVMF, which this host does not have. Install the package ovmf (edk2-ovmf on Fedora), or ask for bios.',
  )
}

/** Creates the variables of a machine from the template. In qcow2, since a raw image would prevent snapshots. */
export const createVariables = async (
  folder: string,
  firmware: Firmware | undefined,
  images: Images,
): Promise<void> => {
  await using template = await openFile(requireFirmware(firmware).variables)
  await images.convert({ format: 'raw', file: template }, join(folder, firmwareFile), {
    signal: new AbortController().signal,
    onProgress() {},
  })
}

/**
 * Returns the path of the firmware's code for a start. Throws `unsupported` without one, and `conflict` if the machine's variables
 * name another file: QEMU writes to them, and would open that file.
 */
export const checkVariables = async (home: string, firmware: Firmware | undefined): Promise<string> => {
  const { code } = requireFirmware(firmware)
  const path = join(home, firmwareFile)
  if ((await readLayerAt(path)).backing !== undefined)
    throw new ServiceError('conflict', `${path} builds on another image, so it is not read. Put the right file back.`)
  return code
}
