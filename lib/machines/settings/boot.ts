import * as z from 'zod'
import { listBootDevices } from '#lib/hypervisor/parts.ts'
import { setMember, type Settings } from './setting.ts'

const classes = ['hdd', 'cdrom', 'net'] as const

/**
 * Device classes, separated by blanks. Clients send devices too, `hdd0 cdrom0`: the firmware tries all devices of a class in
 * their order.
 */
const BootOrder = z
  .string()
  .trim()
  .transform(text => [...new Set(text.split(/\s+/).map(device => device.replace(/0$/, '')))])
  .pipe(z.array(z.enum(classes, 'must be an order of hdd, cdrom and net')).min(1))

/** Names of firmware that clients use. The processors of all machines have 64 bits. */
const Firmware = z
  .enum(['legacy', 'bios', 'efi64', 'efi', 'uefi'], 'must be legacy or efi64')
  .transform(type => (type === 'legacy' || type === 'bios' ? ('bios' as const) : ('uefi' as const)))

export const bootSettings: Settings = {
  'boot-order': setMember('boot_order', BootOrder, definition => listBootDevices(definition).join(' ')),
  'bios-type': setMember('firmware', Firmware, ({ firmware = 'bios' }) => firmware),
}
