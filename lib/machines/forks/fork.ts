import type { Principal } from '#lib/access/principal.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { assertStartable } from '../capacity.ts'
import { findOwner } from '../clone.ts'
import type { MachineContext } from '../context.ts'
import { toExpiry } from '../create/lifecycle.ts'
import type { ForkedMachines, ForkMachine } from './schemas.ts'

/** Returns so many names for forks of a machine that no machine has. */
const generateNames = ({ inventory }: MachineContext, name: string, count: number): readonly string[] => {
  const taken = new Set(inventory.listViews().map(view => view.name.toLowerCase()))
  const names: string[] = []
  for (let number = 1; names.length < count; number += 1) {
    const free = `${name.slice(0, 110)}-fork-${number}`
    if (!taken.has(free.toLowerCase())) names.push(free)
  }
  return names
}

/** Says what the guests of forks take over later, and what they keep. Without an agent nobody tells them their host name. */
const describeIdentity = ({ guest, definition }: MachineView): Pick<ForkedMachines, 'pending' | 'unchanged'> => {
  const told = ['hostname', 'machine_id'] as const
  const cards = definition.networks.length > 0 ? (['mac_address'] as const) : []
  const kept = ['host_keys', 'open_connections', 'secrets_in_memory', 'content_of_disks'] as const
  return guest
    ? { pending: [...cards, ...told, 'random_numbers'], unchanged: [...kept] }
    : { pending: [...cards], unchanged: [...told, ...kept] }
}

/**
 * Makes running copies of a running or paused machine, all or none. They belong to `maker` as a clone does. Throws `not-found`,
 * `conflict` (state, a name in use, busy), `unsupported`, and the refusals of the driver.
 */
export const forkMachine = async (
  context: MachineContext,
  reference: string,
  { count, names: chosen, ttl, labels, ephemeral }: ForkMachine,
  { maker, progress = noProgress }: { readonly maker: Principal; readonly progress?: ProgressReporter },
): Promise<ForkedMachines> => {
  const { driver, inventory, names, host } = context
  const { fork } = driver
  const source = inventory.find(reference)
  if (!fork) throw new ServiceError('unsupported', `Forks are unsupported by the ${driver.kind} driver; use a clone.`)
  using reservations = new DisposableStack()
  const allNames = chosen ?? generateNames(context, source.name, count ?? 1)
  for (const name of allNames) reservations.use(names.reserve(name))
  let made: readonly MachineView[] = []
  await context.runOperation({
    view: source,
    action: 'fork',
    // Each fork makes machines of its own, so a second call never joins the first.
    key: `fork ${crypto.randomUUID()}`,
    chooseKind: () => 'fork',
    progress,
    async work({ view }, deadline) {
      assertStartable(host, view.definition)
      const owner = findOwner(maker, view)
      const expiry = ttl === undefined ? {} : { expires_at: toExpiry(ttl) }
      const rest = { owner, ...expiry, ...(labels && { labels }), ...(ephemeral !== undefined && { ephemeral }) }
      const forks = allNames.map(name => ({ id: crypto.randomUUID(), name, ...rest }))
      const forked = await fork(view.id, forks, deadline)
      made = forked.forks
      for (const one of made) inventory.update(one)
      return forked.source
    },
  })
  return {
    forks: made.map(({ id, name, state, definition: { expires_at } }) => ({
      ...{ id, name, current_state: state },
      ...(expires_at !== undefined && { expires_at }),
    })),
    ...describeIdentity(source),
  }
}
