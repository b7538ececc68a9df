import { ServiceError } from '#lib/errors.ts'
import type { Setting, Settings } from './setting.ts'

/** What clients write for values of two states. */
const switchWords: Readonly<Record<string, string>> = { true: 'on', false: 'off' }

/**
 * A setting that only other hypervisors have: every machine here has one value, which its record shows. Clients that send all
 * settings may ask for it. Another value is refused as `unsupported`.
 */
const keepAt =
  (fixed: string): Setting =>
  ({ group, operation, value }) => {
    if ((switchWords[value] ?? value) !== fixed)
      throw new ServiceError(
        'unsupported',
        `${group} ${operation} ${value} is unsupported on this host: every machine has ${fixed || 'none'}.`,
      )
    return { field: operation, apply: definition => definition, read: () => fixed }
  }

const off = keepAt('off')

/** The fixed settings by their groups. */
export const fixedSettings = {
  'boot-order': { 'efi-secure-boot': off, 'select-boot-device': off, 'external-boot-device': keepAt('') },
  'efi-secure-boot': { 'efi-secure-boot': off, 'select-boot-device': off, 'external-boot-device': keepAt('') },
  rosetta: { set: off },
  time: {
    'time-sync': off,
    'time-sync-smart-mode': off,
    'time-sync-interval': keepAt('60'),
    'disable-timezone-sync': off,
    // The name that other services have for it.
    'disable-timezone-synct': off,
  },
  /** Options of `cmd` `set`. */
  command: { 'startup-view': keepAt('headless'), 'pause-idle': off, 'rosetta-linux': off },
} as const satisfies Readonly<Record<string, Settings>>
