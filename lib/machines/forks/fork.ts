import type { Principal } from '#lib/access/principal.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView, Platform } from '#lib/hypervisor/driver.ts'
import type { NewFork } from '#lib/hypervisor/fork.ts'
import type { Snapshot } from '#lib/hypervisor/snapshot.ts'
import { assertStartable } from '../capacity.ts'
import { findOwner } from '../clone.ts'
import type { MachineContext } from '../context.ts'
import { toExpiry } from '../create/lifecycle.ts'
import { findReadableSnapshot } from '../snapshots/find.ts'
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

/**
 * Says what the guests of forks take over later, and what they keep. Without an agent nobody tells them their host name; nobody knows
 * whether the guest of a snapshot had one. What boots has new cards from the start.
 */
const describeIdentity = (
  { guest, definition: present }: MachineView,
  { networkCard }: Platform,
  snapshot: Snapshot | undefined,
): Pick<ForkedMachines, 'pending' | 'unchanged'> => {
  if (snapshot && !snapshot.memory)
    return { pending: [], unchanged: ['hostname', 'machine_id', 'host_keys', 'content_of_disks'] }
  const { definition } = snapshot ?? { definition: present }
  const told = ['hostname', 'machine_id'] as const
  const hasCards = networkCard !== '' && definition.networks.length > 0
  const cards = hasCards ? (['mac_address'] as const) : []
  const connections = hasCards ? (['open_connections'] as const) : []
  const kept = ['host_keys', ...connections, 'secrets_in_memory', 'content_of_disks'] as const
  return guest || snapshot
    ? { pending: [...cards, ...told, 'random_numbers'], unchanged: [...kept] }
    : { pending: [...cards], unchanged: [...told, ...kept] }
}

/** What a machine or a snapshot of it is forked to. */
interface WantedForks {
  readonly names: readonly string[]
  /** Says who and what a fork is, when the operation starts. */
  readonly describe: (source: MachineView, name: string) => NewFork
  readonly snapshot?: Snapshot | undefined
}

/**
 * Forks a machine or a snapshot of it, as an operation of the machine. Throws `conflict` (state, a name in use, busy), `unsupported`,
 * and the refusals of the driver.
 */
export const runFork = async (
  context: MachineContext,
  source: MachineView,
  { names, describe, snapshot }: WantedForks,
  progress: ProgressReporter,
): Promise<readonly MachineView[]> => {
  const { driver, inventory, host } = context
  const { forks: forking } = driver
  if (!forking)
    throw new ServiceError('unsupported', `Forks are unsupported by the ${driver.kind} driver; use a clone.`)
  using reservations = new DisposableStack()
  for (const name of names) reservations.use(context.names.reserve(name))
  let made: readonly MachineView[] = []
  await context.runOperation({
    view: source,
    action: snapshot ? 'copy snapshot' : 'fork',
    // Each fork makes machines of its own, so a second call never joins the first.
    key: `fork ${crypto.randomUUID()}`,
    chooseKind: () => (snapshot ? 'clone' : 'fork'),
    progress,
    async work({ view }, deadline) {
      assertStartable(host, (snapshot ?? view).definition)
      const forks = names.map(name => describe(view, name))
      const forked = await (snapshot
        ? forking.forkSnapshot(view.id, snapshot.id, forks, deadline)
        : forking.fork(view.id, forks, deadline))
      made = forked.forks
      for (const one of made) inventory.update(one)
      return forked.source
    },
  })
  return made
}

/**
 * Makes running copies of a running or paused machine, or of a snapshot of any machine, all or none. They belong to `maker` as a
 * clone does. Throws as `findReadableSnapshot` and `runFork`.
 */
export const forkMachine = async (
  context: MachineContext,
  reference: string,
  { snapshot: wanted, count, names: chosen, ttl, labels, ephemeral }: ForkMachine,
  { maker, progress = noProgress }: { readonly maker: Principal; readonly progress?: ProgressReporter },
): Promise<ForkedMachines> => {
  const source = context.inventory.find(reference)
  const snapshot = wanted === undefined ? undefined : findReadableSnapshot(context, source, wanted, maker)
  const names = chosen ?? generateNames(context, source.name, count ?? 1)
  const describe = (view: MachineView, name: string): NewFork => ({
    name,
    owner: findOwner(maker, view),
    ...(ttl !== undefined && { expires_at: toExpiry(ttl) }),
    ...(labels && { labels }),
    ...(ephemeral !== undefined && { ephemeral }),
  })
  const forks = await runFork(context, source, { names, describe, snapshot }, progress)
  return {
    forks: forks.map(({ id, name, state, definition: { expires_at } }) => ({
      ...{ id, name, current_state: state },
      ...(expires_at !== undefined && { expires_at }),
    })),
    ...describeIdentity(source, context.driver.platform, snapshot),
  }
}
