import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { type DefinitionChanges, networkModes } from '#lib/hypervisor/definition.ts'
import { firstMistake } from '#lib/schema-errors.ts'
import { Description, MachineName, type SetMachine } from './schemas.ts'

type Operation = SetMachine['operations'][number]

interface Setting {
  readonly field: keyof DefinitionChanges
  readonly value: z.ZodType<string | number, string>
}

/** How much is too much the host says first (`refuseBeyondHost`). */
const wholeNumber = (what: string): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be ${what} as a whole number`)
    .transform(Number)
    .pipe(z.int().min(1, `must be ${what}, at least 1`))

/** What `set` can change: group → operation → field of the definition, with how its value is written. */
const settings: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  cpu: { set: { field: 'cpus', value: wholeNumber('a number of CPUs') } },
  memory: { set: { field: 'memory', value: wholeNumber('an amount in MB') } },
  machine: { rename: { field: 'name', value: MachineName } },
  description: { set: { field: 'description', value: Description } },
  network: { set: { field: 'network', value: z.enum(networkModes) } },
}

/** One operation of a `set` as a change of the definition. Throws `unsupported` or `invalid`, naming group and operation. */
export const readSetting = ({
  group,
  operation,
  value,
}: Operation): readonly [keyof DefinitionChanges, string | number] => {
  const known = settings[group]
  const setting = known?.[operation]
  if (!setting) {
    const offer = known
      ? `in it only ${Object.keys(known).join(', ')} can be set`
      : `the groups are ${Object.keys(settings).join(', ')}`
    throw new ServiceError('unsupported', `${group} ${operation} is unsupported on this host: ${offer}.`)
  }
  const parsed = setting.value.safeParse(value)
  if (!parsed.success)
    throw new ServiceError('invalid', `The value of ${group} ${operation} ${firstMistake(parsed.error)}.`)
  return [setting.field, parsed.data]
}
