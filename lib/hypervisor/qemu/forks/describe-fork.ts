import { basename } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { cloneDefinition, type Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import type { NewFork } from '../../fork.ts'
import { generateMac } from '../../mac.ts'
import { getCardName, isModern } from '../../parts.ts'
import { describeClonedDisk } from '../disks.ts'
import { assertLayerable } from '../layers/pause.ts'
import type { PreparedOverlay } from '../layers/put-overlays.ts'
import { assertSuspendable } from '../saved-memory.ts'

const refuse = ({ name }: Pick<MachineView, 'name'>, why: string): never => {
  throw new ServiceError('unsupported', `Forks of ${name} are unsupported: ${why}`)
}

/** Throws `unsupported` for a machine whose running guest cannot get other cards. */
export const assertCardsReplaceable = (view: Pick<MachineView, 'name' | 'definition'>): void => {
  const { networks } = view.definition
  const at = networks.findIndex(({ port }) => port === undefined)
  const card = networks[at]
  if (card)
    refuse(
      view,
      `its card ${getCardName(card, at)} is part of the board, so a fork would keep the MAC address of ${view.name}.`,
    )
}

/** Throws `conflict` and `unsupported` for a machine that cannot fork, with the reason. */
export const assertForkable = (view: MachineView): void => {
  if (process.platform !== 'linux') refuse(view, 'only on Linux can machines share their memory.')
  if (!isModern(view.definition))
    refuse(view, 'machines of the type pc have no memory that others can share. Make a new machine with its disks.')
  assertSuspendable(view)
  assertLayerable(view, { what: 'Forks', advice: 'the clone can fork' })
  assertCardsReplaceable(view)
}

/** Returns the definition of a fork. `overlays` are those of the source's disks: the fork builds on what is below them. */
export const describeFork = (
  source: Definition,
  fork: NewFork & Pick<Definition, 'id'>,
  overlays: readonly PreparedOverlay[],
): Definition => {
  const { labels, ephemeral, expires_at } = fork
  return {
    ...cloneDefinition(source, fork),
    networks: source.networks.map(card => ({ ...card, mac: generateMac() })),
    disks: source.disks.map((disk, at) => ({
      ...describeClonedDisk(disk, at),
      ...(overlays[at] && { backing: basename(overlays[at].base) }),
      ...(disk.image !== undefined && { image: disk.image }),
    })),
    ...(source.disks.length > 0 && { base: source.id }),
    ...(labels && { labels: { ...source.labels, ...labels } }),
    ...(ephemeral !== undefined && { ephemeral }),
    ...(expires_at !== undefined && { expires_at }),
  }
}
