import { ServiceError } from '#lib/errors.ts'

/** The path of an endpoint of a machine below `/api/v1`. Throws `not-found` for names whose paths would be those of other endpoints. */
export const toMachinePath = (machine: string, endpoint: string, query: Readonly<Record<string, string>>): string => {
  if (['', '.', '..'].includes(machine)) throw new ServiceError('not-found', 'Name the machine by its name or its id.')
  return `/machines/${encodeURIComponent(machine)}/${endpoint}?${new URLSearchParams(query).toString()}`
}
