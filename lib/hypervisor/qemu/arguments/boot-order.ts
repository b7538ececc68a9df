import { listBootDevices } from '../../parts.ts'

/** Returns the place of each device in the order in which the firmware tries them, from 1 on. */
export const numberBootDevices = (machine: Parameters<typeof listBootDevices>[0]): ReadonlyMap<string, number> =>
  new Map(listBootDevices(machine).map((name, at) => [name, at + 1]))
