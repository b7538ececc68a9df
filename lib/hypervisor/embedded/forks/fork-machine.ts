import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import { renewGuest } from '../../agent/renew-guest.ts'
import type { CloneIdentity, Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import { explainFileError } from '../../files/file-faults.ts'
import type { MachineFolders } from '../../files/machine-folders.ts'
import type { HostFileOpener } from '../../files/open-machine-file.ts'
import type { ForkedMachines, NewFork } from '../../fork.ts'
import type { ForkJournal } from '../../forks/journal.ts'
import { requireSnapshot } from '../../snapshots/tree.ts'
import { viewSnapshot } from '../../snapshots/view-snapshot.ts'
import type { DiskBases, HeldBase } from '../disks/bases.ts'
import { type MachineDisk, openMachineDisk } from '../disks/machine-disk.ts'
import { assertOwnDisk } from '../disks/own-disk.ts'
import type { Machine } from '../machine.ts'
import { prepareClone } from '../prepare-clone.ts'
import type { EmulatorProgram } from '../program.ts'
import type { StateToRestore } from '../protocol.ts'
import { getStateFile } from '../snapshots/files.ts'
import { assertRestorable } from '../snapshots/revert.ts'

/** The saved state of a machine whose forks are being made, in its folder. */
export const forkStateFile = 'fork.state'

export interface ForkContext {
  readonly folders: Pick<MachineFolders, 'create' | 'remove'>
  readonly journal: ForkJournal
  readonly bases: DiskBases
  readonly hostFiles: HostFileOpener
  readonly loadProgram: () => Promise<EmulatorProgram>
  readonly createMachine: (definition: Definition) => Machine
  readonly register: (machine: Machine) => void
  readonly log: Logger
}

/** What forks go on from: a disk, as a base image, and memory. Without memory they boot. */
interface Template {
  readonly view: MachineView
  readonly disk: MachineDisk | undefined
  readonly base: HeldBase | undefined
  readonly state: StateToRestore | undefined
}

/** Keeps the present moment of a machine, whose guest halts meanwhile. `stack` disposes of what is kept. */
const keepMoment = async (
  source: Machine,
  stack: AsyncDisposableStack,
  { hostFiles, bases }: ForkContext,
  deadline: AbortSignal,
): Promise<Template> => {
  const view = source.view()
  const path = join(view.home, forkStateFile)
  stack.defer(() => rm(path, { force: true }))
  const disk = await openMachineDisk(view, hostFiles, 'read')
  if (disk) stack.use(disk)
  let base: HeldBase | undefined
  await source.withGuestHalted(deadline, async session => {
    await session.save(path, deadline)
    base = disk && stack.use(await bases.hold(view, disk, deadline))
  })
  return { view, disk, base, state: { path, id: view.id } }
}

/** Holds what a snapshot has. `stack` releases it. Throws `conflict` for memory that cannot be restored. */
const holdSnapshot = async (
  source: Machine,
  snapshotId: string,
  stack: AsyncDisposableStack,
  { hostFiles, bases, loadProgram }: ForkContext,
  deadline: AbortSignal,
): Promise<Template> => {
  const snapshot = requireSnapshot(source.view(), snapshotId)
  const view = viewSnapshot(source.view(), snapshot)
  const { id, home } = view
  await assertRestorable(view, snapshot, loadProgram)
  const disk = await openMachineDisk(view, hostFiles, 'read')
  if (disk) stack.use(disk)
  const base = disk && stack.use(await bases.hold(view, disk, deadline))
  const state = snapshot.memory && { path: join(home, getStateFile(snapshot.id)), id }
  return { view, disk, base, state }
}

/** A fork whose id is known. */
type IdentifiedFork = NewFork & CloneIdentity

/** Makes the machine of a fork. */
const createFork = async (
  { view, disk, base }: Template,
  { labels, ephemeral, expires_at, ...identity }: IdentifiedFork,
  { folders, hostFiles, createMachine }: ForkContext,
  deadline: AbortSignal,
): Promise<Machine> => {
  const prepared = prepareClone(view, identity, { disk, link: { base: base?.name }, hostFiles, deadline })
  const definition = {
    ...prepared.definition,
    ...(labels && { labels: { ...view.definition.labels, ...labels } }),
    ...(ephemeral !== undefined && { ephemeral }),
    ...(expires_at !== undefined && { expires_at }),
  }
  await folders.create(identity.id, async folder => {
    await prepared.populate(folder)
    return definition
  })
  return createMachine(definition)
}

/** Starts forks from a template: all of them or none. */
const startForks = async (
  forks: readonly IdentifiedFork[],
  template: Template,
  context: ForkContext,
  deadline: AbortSignal,
): Promise<readonly Machine[]> => {
  const machines: Machine[] = []
  try {
    // One after the other: each has the whole state in memory while it is restored.
    for (const fork of forks) {
      const machine = await createFork(template, fork, context, deadline)
      machines.push(machine)
      if (template.state) await machine.startFork(template.state, deadline)
      else await machine.run('start', { force: false, deadline })
    }
    deadline.throwIfAborted()
    return machines
  } catch (error) {
    for (const machine of machines) await machine.run('stop', { force: true, deadline })
    throw error
  }
}

/** Gives the guest of a fork its own host name, machine id and random numbers. That takes as long as the guest needs. */
const renewIdentity = async (machine: Machine, log: Logger): Promise<void> => {
  const { id, name } = machine.view()
  await renewGuest(machine.agentPort.require(), { id, name }).catch((error: unknown) =>
    log.warning('{id}: its guest keeps the host name of its source: {error}', { id, error: messageOf(error) }),
  )
}

/** Makes forks of what `keep` keeps for them. They exist when the journal has forgotten them, all at once. */
const makeForks = async (
  { home }: Pick<MachineView, 'home'>,
  newForks: readonly NewFork[],
  keep: (stack: AsyncDisposableStack) => Promise<Template>,
  context: ForkContext,
  deadline: AbortSignal,
): Promise<readonly Machine[]> => {
  const { journal, folders, register } = context
  const forks = newForks.map(fork => ({ ...fork, id: fork.id ?? crypto.randomUUID() }))
  const record = await journal.begin(forks.map(({ id }) => id))
  // The base image is held until the forks are registered, which use it from then on.
  await using stack = new AsyncDisposableStack()
  let machines: readonly Machine[]
  try {
    machines = await startForks(forks, await keep(stack), context, deadline)
  } catch (error) {
    for (const { id } of forks) await folders.remove(id)
    await record.end()
    throw await explainFileError(error, home)
  }
  await record.end()
  for (const machine of machines) register(machine)
  return machines
}

/** Forks a running or paused machine (see `ForkDriver`). */
export const forkMachine = async (
  source: Machine,
  newForks: readonly NewFork[],
  context: ForkContext,
  deadline: AbortSignal,
): Promise<ForkedMachines> => {
  assertOwnDisk(source.view(), { what: 'Forks', advice: 'the clone can fork' })
  const hasAgent = source.agentPort.current() !== undefined
  const keep = (stack: AsyncDisposableStack): Promise<Template> => keepMoment(source, stack, context, deadline)
  const machines = await makeForks(source.view(), newForks, keep, context, deadline)
  if (hasAgent) for (const machine of machines) void renewIdentity(machine, context.log)
  return { source: source.view(), forks: machines.map(machine => machine.view()) }
}

/** Makes running machines of a snapshot (see `ForkDriver`). */
export const forkSnapshot = async (
  source: Machine,
  snapshot: string,
  newForks: readonly NewFork[],
  context: ForkContext,
  deadline: AbortSignal,
): Promise<ForkedMachines> => {
  const keep = (stack: AsyncDisposableStack): Promise<Template> =>
    holdSnapshot(source, snapshot, stack, context, deadline)
  const machines = await makeForks(source.view(), newForks, keep, context, deadline)
  return { source: source.view(), forks: machines.map(machine => machine.view()) }
}
