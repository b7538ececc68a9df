import { ServiceError } from '#lib/errors.ts'
import type { NewMachine } from '../definition.ts'

/** Throws `invalid` for a machine with nothing to boot from, and for `initrd` or `cmdline` without a kernel. */
export const assertBootable = ({ disks, kernel, initrd, cmdline }: NewMachine): void => {
  if (kernel !== undefined) return
  const unread = Object.entries({ initrd, cmdline }).find(([, value]) => value !== undefined)
  if (unread)
    throw new ServiceError('invalid', `${unread[0]} means something to a kernel only: name a kernel, or leave it out.`)
  if (disks.length === 0)
    throw new ServiceError('invalid', 'The machine would have nothing to boot from: give it disks, or a kernel.')
}
