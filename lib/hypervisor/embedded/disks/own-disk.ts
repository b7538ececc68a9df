import { isAbsolute } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '../../driver.ts'

/**
 * Throws `unsupported` for a machine with a disk that other programs may write to. `what` begins the sentence, and `advice` follows on
 * "Clone it in full; ".
 */
export const assertOwnDisk = (
  { name, definition: { disks } }: Pick<MachineView, 'name' | 'definition'>,
  { what, advice }: { readonly what: string; readonly advice: string },
): void => {
  const other = disks.find(({ path }) => isAbsolute(path))
  if (!other) return
  throw new ServiceError(
    'unsupported',
    `${what} of ${name} are unsupported: its disk ${other.path} is an image that it uses in place and others may change. Clone it in full; ${advice}.`,
  )
}
