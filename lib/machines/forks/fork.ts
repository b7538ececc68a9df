import type { Principal } from '#lib/access/principal.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView, Platform } from '#lib/hypervisor/driver.ts'
import type { NewFork } from '#lib/hypervisor/fork.ts'
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
const describeIdentity = (
  { guest, definition }: MachineView,
  { networkCard }: Platform,
): Pick<ForkedMachines, 'pending' | 'unchanged'> => {
  const told = ['hostname', 'machine_id'] as const
  const hasCards = networkCard !== '' && definition.networks.length > 0
  const cards = hasCards ? (['mac_address'] as const) : []
  const connections = hasCards ? (['open_connections'] as const) : []
  const kept = ['host_keys', ...connections, 'secrets_in_memory', 'content_of_disks'] as const
  return guest
    ? { pending: [...cards, ...told, 'random_numbers'], unchanged: [...kept] }
    : { pending: [...cards], unchanged: [...told, ...kept] }
}

/**
 * Forks a machine as an operation of it. `describe` says who and what the forks are, when the operation starts. Throws `conflict`
 * (state, a name in use, busy), `unsupported`, and the refusals of the driver.
 */
export const runFork = async (
  context: MachineContext,
  source: MachineView,
  names: readonly string[],
  describe: (source: MachineView, name: string) => NewFork,
  progress: ProgressReporter,
): Promise<readonly MachineView[]> => {
  const { driver, inventory, host } = context
  const { fork } = driver
  if (!fork) throw new ServiceError('unsupported', `Forks are unsupported by the ${driver.kind} driver; use a clone.`)
  using reservations = new DisposableStack()
  for (const name of names) reservations.use(context.names.reserve(name))
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
      const forks = names.map(name => describe(view, name))
      const forked = await fork(view.id, forks, deadline)
      made = forked.forks
      for (const one of made) inventory.update(one)
      return forked.source
    },
  })
  return made
}

/**
 * Makes running copies of a running or paused machine, all or none. They belong to `maker` as a clone does. Throws `not-found`, and
 * as `runFork`.
 */
export const forkMachine = async (
  context: MachineContext,
  reference: string,
  { count, names: chosen, ttl, labels, ephemeral }: ForkMachine,
  { maker, progress = noProgress }: { readonly maker: Principal; readonly progress?: ProgressReporter },
): Promise<ForkedMachines> => {
  const source = context.inventory.find(reference)
  const names = chosen ?? generateNames(context, source.name, count ?? 1)
  const describe = (view: MachineView, name: string): NewFork => ({
    name,
    owner: findOwner(maker, view),
    ...(ttl !== undefined && { expires_at: toExpiry(ttl) }),
    ...(labels && { labels }),
    ...(ephemeral !== undefined && { ephemeral }),
  })
  const forks = await runFork(context, source, names, describe, progress)
  return {
    forks: forks.map(({ id, name, state, definition: { expires_at } }) => ({
      ...{ id, name, current_state: state },
      ...(expires_at !== undefined && { expires_at }),
    })),
    ...describeIdentity(source, context.driver.platform),
  }
}
