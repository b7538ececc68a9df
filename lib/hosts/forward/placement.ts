import { ServiceError } from '#lib/errors.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'

/** What a new machine needs of its host. */
export interface PlacementNeeds {
  /** Labels as text: `zone=a,disk=ssd`. */
  readonly labels?: string | undefined
  readonly architecture?: string | undefined
  /** The type of the machine, which is the name of the driver that runs it. */
  readonly machineType?: string | undefined
  /** The space in MB that the machine needs on the disk of its host. */
  readonly disk?: number | undefined
}

/** Parses labels as text. Throws `invalid`. */
const parseLabels = (text = ''): readonly (readonly [string, string])[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)
    .map(part => {
      const [name = '', value, ...more] = part.split('=')
      if (name === '' || value === undefined || more.length > 0)
        throw new ServiceError('invalid', 'host_labels must be written as NAME=VALUE,NAME=VALUE.')
      return [name, value] as const
    })

/**
 * Returns the hosts that can take a new machine, the one with the most free memory first: they answer and are not drained, have the
 * labels and can run the machine. Throws `unavailable` when there is none.
 */
export const rankHosts = (
  table: Pick<HostTable, 'list' | 'isAnswering'>,
  { labels, architecture, machineType, disk = 0 }: PlacementNeeds,
): readonly [StoredHost, ...StoredHost[]] => {
  const wanted = parseLabels(labels)
  const rules: readonly (readonly [string, (host: StoredHost) => boolean])[] = [
    ['answers', table.isAnswering],
    ['is not drained', host => !host.drained],
    ['has these labels', host => wanted.every(([name, value]) => host.labels[name] === value)],
    [
      `has the architecture ${architecture}`,
      host => architecture === undefined || host.report?.architecture === architecture,
    ],
    [
      `runs machines of the type ${machineType}`,
      host => machineType === undefined || host.report?.driver === machineType,
    ],
    [`has ${disk} MB of free disk space`, host => (host.report?.capacity.free_disk ?? Infinity) >= disk],
  ]
  let hosts: readonly StoredHost[] = table.list()
  for (const [what, applies] of rules) {
    const left = hosts.filter(applies)
    if (hosts.length > 0 && left.length === 0)
      throw new ServiceError(
        'unavailable',
        `No host can take this: of ${hosts.map(({ name }) => name).join(', ')}, none ${what}. See GET /api/v1/hosts.`,
      )
    hosts = left
  }
  const getFree = ({ report }: StoredHost): number => report?.capacity.free_memory ?? 0
  const [best, ...others] = hosts.toSorted((a, b) => getFree(b) - getFree(a))
  if (best) return [best, ...others]
  throw new ServiceError('unavailable', 'This service has no hosts yet. Register one with POST /api/v1/hosts.')
}
