import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import { cdRomSettings } from './cdroms.ts'
import { diskSettings } from './disks.ts'
import { networkSettings } from './networks.ts'
import type { Setting, Settings } from './setting.ts'

/** The operations by the kind of device. */
const kinds: Readonly<Record<string, Settings>> = { hdd: diskSettings, cdrom: cdRomSettings, net: networkSettings }

/** Returns the setting of an operation for the kind of device that its value names: `hdd`, or `hdd1`. */
const chooseKind =
  (name: string): Setting =>
  (operation, current, images) => {
    const kind = operation.value.replace(/[0-9]+$/, '')
    const settings = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    const setting = settings && Object.hasOwn(settings, name) ? settings[name] : undefined
    if (setting) return setting(operation, current, images)
    const advice = settings
      ? `${kind} has ${joinWords(Object.keys(settings), 'and')}`
      : `the kinds are ${joinWords(Object.keys(kinds), 'and')}`
    throw new ServiceError('unsupported', `device ${name} ${operation.value} is unsupported: ${advice}.`)
  }

export const deviceSettings: Settings = {
  add: chooseKind('add'),
  set: chooseKind('set'),
  remove: chooseKind('remove'),
  connect: chooseKind('connect'),
  disconnect: chooseKind('disconnect'),
}
