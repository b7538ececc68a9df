import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import { fixedSettings } from './fixed.ts'
import { lifecycleSettings } from './lifecycle.ts'
import type { Setting, Settings } from './setting.ts'

const { enabled, delay } = lifecycleSettings['autostart']!

/** The options that clients of other services set by a command, in its words. */
const options: Settings = {
  ...fixedSettings.command,
  autostart: (operation, current, images) =>
    enabled!({ ...operation, value: operation.value === 'start-host' ? 'on' : operation.value }, current, images),
  'autostart-delay': delay!,
}

/** Changes what each option of the operation names. Throws `unsupported` for an option or flag that there is not. */
const set: Setting = (operation, current, images) => {
  const { group, operation: name, flags } = operation
  const named = operation.options.map(({ flag, value }) => ({ option: flag.replace(/^--/, ''), value }))
  const unknown = [...flags, ...named.map(({ option }) => option)].find(option => !Object.hasOwn(options, option))
  if (unknown !== undefined || named.length === 0)
    throw new ServiceError(
      'unsupported',
      `${group} ${name} ${unknown ?? 'without options'} is unsupported on this host: it takes the options ${joinWords(Object.keys(options), 'and')}.`,
    )
  const changes = named.map(({ option, value }) =>
    options[option]!({ group, operation: option, value, options: [], flags: [] }, current, images),
  )
  return {
    field: changes.map(({ field }) => field).join(', '),
    apply: definition => changes.reduce((changed, change) => change.apply(changed), definition),
    read: definition => changes.map(change => change.read(definition)).join(', '),
  }
}

export const commandSettings: Settings = { set }
