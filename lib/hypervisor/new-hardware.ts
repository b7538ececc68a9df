import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import { hardwareMembers, type NewMachine } from './definition.ts'

/** Throws `unsupported` for the first part of a request that a driver without such hardware would have to ignore. */
export const refuseHardware = (
  request: NewMachine,
  driver: string,
  supported: Partial<Record<(typeof hardwareMembers)[number] | 'cdroms' | 'bus', readonly unknown[]>>,
): void => {
  const asked: [string, unknown][] = [
    ...[...hardwareMembers, 'cdroms' as const].map((member): [string, unknown] => [member, request[member]]),
    ...request.disks.map(({ bus }): [string, unknown] => ['bus', bus]),
  ]
  const values: Readonly<Record<string, readonly unknown[]>> = supported
  for (const [member, value] of asked) {
    if (value === undefined || values[member]?.includes(value)) continue
    const others = values[member]
    const advice = others ? `It has ${joinWords(others.map(String), 'and')}` : 'Leave it out'
    throw new ServiceError('unsupported', `${member} is unsupported by the ${driver} driver. ${advice}.`)
  }
}
