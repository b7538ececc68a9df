import { join } from 'node:path'
import { listRotatedParts } from '#lib/hypervisor/files/serial-parts.ts'

/** The rotated part of the serial log in a machine's folder; a path without a file while there is none. */
export const findRotatedLog = (home: string): string => {
  const path = join(home, 'serial.log')
  return listRotatedParts(path)[0]?.path ?? `${path}.none`
}
