import * as z from 'zod'
import { Limits } from '#lib/hypervisor/machine-parts.ts'
import { parseValue, type Setting, type Settings } from './setting.ts'

type LimitName = keyof Limits
// The schema has exactly these members.
const names = Object.keys(Limits.shape) as LimitName[]

/** Sets one limit; `none` removes it. */
const setLimit =
  (name: LimitName): Setting =>
  ({ value }) => {
    const Value = z.union(
      [z.literal('none').transform(() => undefined), z.coerce.number().pipe(Limits.shape[name].unwrap())],
      {
        error: 'must be a number within bounds, or none',
      },
    )
    const limit = parseValue(`limits ${name}`, Value, value)
    return {
      field: name,
      apply: definition => {
        const { [name]: _, ...others } = definition.limits ?? {}
        return { ...definition, limits: { ...others, ...(limit !== undefined && { [name]: limit }) } }
      },
      read: ({ limits }) => limits?.[name] ?? 'none',
    }
  }

/** What a machine may take of its host: the name of the limit is the operation. */
export const limitSettings: Settings = Object.fromEntries(names.map(name => [name, setLimit(name)]))
