import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { type DefinitionChanges, networkModes } from '#lib/hypervisor/definition.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import { Description, MachineName, type SetMachine } from './schemas.ts'

type Operation = SetMachine['operations'][number]

interface Setting {
  readonly field: keyof DefinitionChanges
  readonly value: z.ZodType<string | number, string>
}

/** The upper limit depends on the host (`assertWithinHost`). */
const createNumberSchema = (description: string): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be ${description} as a whole number`)
    .transform(Number)
    .pipe(z.int().min(1, `must be ${description}, at least 1`))

/** What `set` can change: group → operation → field of the definition, with the schema of its value. */
const settings: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  cpu: { set: { field: 'cpus', value: createNumberSchema('a number of CPUs') } },
  memory: { set: { field: 'memory', value: createNumberSchema('an amount in MB') } },
  machine: { rename: { field: 'name', value: MachineName } },
  description: { set: { field: 'description', value: Description } },
  network: { set: { field: 'network', value: z.enum(networkModes) } },
}

/** Reads an operation of a `set` request as a change of the definition. Throws `unsupported` or `invalid`. */
export const readSetting = ({
  group,
  operation,
  value,
}: Operation): readonly [keyof DefinitionChanges, string | number] => {
  const operations = settings[group]
  const setting = operations?.[operation]
  if (!setting) {
    const supported = operations
      ? `the group has only ${Object.keys(operations).join(', ')}`
      : `the groups are ${Object.keys(settings).join(', ')}`
    throw new ServiceError('unsupported', `${group} ${operation} is unsupported on this host: ${supported}.`)
  }
  const parsed = setting.value.safeParse(value)
  if (!parsed.success)
    throw new ServiceError('invalid', `The value of ${group} ${operation} ${describeFirstMistake(parsed.error)}.`)
  return [setting.field, parsed.data]
}
