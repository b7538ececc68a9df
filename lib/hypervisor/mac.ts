import { randomBytes } from 'node:crypto'

/** Returns a random, locally administered MAC address of the range that QEMU uses for guests. */
export const generateMac = (): string =>
  ['52', '54', '00', ...[...randomBytes(3)].map(byte => byte.toString(16).padStart(2, '0'))].join(':')
