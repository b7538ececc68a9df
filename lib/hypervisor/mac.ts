import { randomBytes } from 'node:crypto'

/** A random address of the range that QEMU and its kin use for guests; locally administered. */
export const randomMac = (): string =>
  ['52', '54', '00', ...[...randomBytes(3)].map(byte => byte.toString(16).padStart(2, '0'))].join(':')
