import { ServiceError } from '#lib/errors.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'

/** What a new machine needs of its host. */
export interface PlacementNeeds {
  /** Labels as text: `zone=a,disk=ssd`. */
  readonly labels?: string | undefined
  readonly architecture?: string | undefined
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
 * Chooses the host of a new machine: one that answers and is not drained, has the labels and can run the machine, and of these the
 * one with the most free memory. Throws `unavailable` when there is none.
 */
export const placeMachine = (
  table: Pick<HostTable, 'list' | 'isAnswering'>,
  { labels, architecture }: PlacementNeeds,
): StoredHost => {
  const wanted = parseLabels(labels)
  const rules: readonly (readonly [string, (host: StoredHost) => boolean])[] = [
    ['answers', table.isAnswering],
    ['is not drained', host => !host.drained],
    ['has these labels', host => wanted.every(([name, value]) => host.labels[name] === value)],
    [
      `has the architecture ${architecture}`,
      host => architecture === undefined || host.report?.architecture === architecture,
    ],
  ]
  let hosts: readonly StoredHost[] = table.list()
  if (hosts.length === 0)
    throw new ServiceError('unavailable', 'This service has no hosts yet. Register one with POST /api/v1/hosts.')
  for (const [what, applies] of rules) {
    const left = hosts.filter(applies)
    if (left.length === 0)
      throw new ServiceError(
        'unavailable',
        `No host can take this: of ${hosts.map(({ name }) => name).join(', ')}, none ${what}. See GET /api/v1/hosts.`,
      )
    hosts = left
  }
  const getFree = ({ report }: StoredHost): number => report?.capacity.free_memory ?? 0
  return hosts.toSorted((a, b) => getFree(b) - getFree(a))[0]!
}
