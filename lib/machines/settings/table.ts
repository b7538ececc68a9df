import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import { nameParts } from '#lib/hypervisor/parts.ts'
import { Description, MachineName } from '../schemas.ts'
import { actionGroups } from './actions.ts'
import { bootSettings } from './boot.ts'
import { commandSettings } from './commands.ts'
import { deviceSettings } from './devices.ts'
import { displaySettings } from './display.ts'
import { fixedSettings } from './fixed.ts'
import { lifecycleSettings } from './lifecycle.ts'
import { limitSettings } from './limits.ts'
import { networkModeSetting } from './networks.ts'
import {
  type Change,
  createNumberSchema,
  type NamedImages,
  setMember,
  type SetOperation,
  type Settings,
} from './setting.ts'
import { sharedFolderSettings } from './shared-folders.ts'

/** What `set` can change: group → operation. */
const settings: Readonly<Record<string, Settings>> = {
  cpu: { set: setMember('cpus', createNumberSchema('a number of CPUs'), ({ cpus }) => cpus) },
  memory: { set: setMember('memory', createNumberSchema('an amount in MB'), ({ memory }) => memory) },
  machine: { rename: setMember('name', MachineName, ({ name }) => name) },
  description: { set: setMember('description', Description, ({ description }) => description) },
  network: { set: networkModeSetting },
  device: deviceSettings,
  display: displaySettings,
  'boot-order': { ...bootSettings, ...fixedSettings['boot-order'] },
  'efi-secure-boot': fixedSettings['efi-secure-boot'],
  rosetta: fixedSettings.rosetta,
  time: fixedSettings.time,
  cmd: commandSettings,
  'shared-folder': sharedFolderSettings,
  limits: limitSettings,
  ...lifecycleSettings,
}

/** True for a setting that concerns the service alone, and not the machine. */
export const isLifecycleSetting = ({ group }: SetOperation): boolean => Object.hasOwn(lifecycleSettings, group)

/** Reads an operation of a `set` request as a change of the present definition. Throws `unsupported` and `invalid`. */
export const readSetting = (operation: SetOperation, current: Definition, images: NamedImages): Change => {
  const { group, operation: name } = operation
  const operations = Object.hasOwn(settings, group) ? settings[group] : undefined
  const setting = operations && Object.hasOwn(operations, name) ? operations[name] : undefined
  if (setting) {
    const change = setting(operation, nameParts(current), images)
    return { ...change, apply: definition => change.apply(nameParts(definition)) }
  }
  const inGroup = [
    ...Object.keys(operations ?? {}),
    ...(Object.hasOwn(actionGroups, group) ? actionGroups[group]! : []),
  ]
  const supported =
    inGroup.length > 0
      ? `the group has only ${inGroup.join(', ')}`
      : `the groups are ${joinWords([...new Set([...Object.keys(settings), ...Object.keys(actionGroups)])], 'and')}`
  throw new ServiceError('unsupported', `${group} ${name} is unsupported on this host: ${supported}.`)
}
