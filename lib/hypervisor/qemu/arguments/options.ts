/** Doubles commas, since a single comma ends a value in QEMU's option strings. */
export const escapeCommas = (text: string): string => text.replaceAll(',', ',,')

/** Returns an option with its value, or nothing without a value. */
export const buildOption = (flag: string, value: string | undefined): string[] =>
  value === undefined ? [] : [flag, value]

/** Describes a device as the command line and the command `device_add` take it. */
export type Device = Readonly<{ driver: string; id?: string } & Record<string, unknown>>

export const buildDevice = (device: Device): string[] => ['-device', JSON.stringify(device)]

/** Returns the arguments of a socket on which QEMU listens. With `wait`, QEMU starts the guest when somebody is connected. */
export const buildSocket = (id: string, path: string, wait: 'on' | 'off'): string[] => [
  '-chardev',
  `socket,id=${id},path=${path},server=on,wait=${wait}`,
]
