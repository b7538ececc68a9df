import { fileNames } from '../file-names.ts'
import { buildDevice } from './options.ts'

/** The devices of a screen. A tablet tells the guest where the pointer is, so that no client has to capture it. */
const devices = [
  { driver: 'VGA', id: 'video0', addr: '0x1' },
  { driver: 'qemu-xhci', id: 'usb0', addr: '0x2' },
  { driver: 'usb-tablet', id: 'tablet0', bus: 'usb0.0' },
] as const

/**
 * Returns the arguments of a screen: its devices, and the socket for those who look at it. QEMU asks them for no password; only the
 * service can open the socket. `share=ignore` keeps a viewer from disconnecting the others.
 */
export const buildScreenArguments = (): string[] => [
  ...devices.flatMap(buildDevice),
  ...['-vnc', `unix:${fileNames.screenSocket},share=ignore`],
]
