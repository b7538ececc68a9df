import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import type { CloneIdentity, Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import type { ForkedMachines, NewFork } from '../../fork.ts'
import { copySeed } from '../../seed/seed-files.ts'
import type { Snapshot } from '../../snapshot.ts'
import { requireSnapshot } from '../../snapshots/tree.ts'
import { viewSnapshot } from '../../snapshots/view-snapshot.ts'
import { assertLinkable, copyOwnFiles, linkDisks } from '../disks.ts'
import type { QemuMachine } from '../machine.ts'
import { openMemoryFile } from '../memory-file.ts'
import { waitForLoad } from '../saved-memory.ts'
import { getMemoryFile, getVariablesFile } from '../snapshots/files.ts'
import type { ForkContext } from './context.ts'
import { continueFork } from './continue-fork.ts'
import { assertCardsReplaceable, describeFork } from './describe-fork.ts'
import { writeForkMarker } from './marker.ts'
import { renewIdentity } from './renew-identity.ts'

/** Forks that are started at the same time. */
const concurrency = 4

type IdentifiedFork = NewFork & CloneIdentity

/** Makes the folder of a fork, with disks that build on the images of the snapshot. */
const makeFolder = (
  view: MachineView,
  snapshot: Snapshot,
  fork: IdentifiedFork,
  { folders, images, attachments }: ForkContext,
  deadline: AbortSignal,
): Promise<Definition> =>
  folders.create(fork.id, async folder => {
    const { definition: source, home } = view
    const layers = await realpath(home)
    const copy = {
      ...{ source, attachments, home, folder, images, deadline, onProgress: () => {} },
      variables: getVariablesFile(snapshot.id),
    }
    const disks = await linkDisks(copy, async name => join(layers, name))
    await copyOwnFiles(source, copy)
    const described = { ...describeFork(source, fork, []), disks, base: view.id }
    await copySeed(home, folder, described)
    return described
  })

/** Starts a fork: with the memory of the snapshot, or by a boot if it has none. */
const startFork = async (
  machine: QemuMachine,
  view: MachineView,
  { id, memory }: Snapshot,
  deadline: AbortSignal,
): Promise<void> => {
  if (!memory) return void (await machine.run('start', { force: false, deadline }))
  await machine.operate(deadline, async ({ machine: state, bootIncoming }) => {
    await using file = await openMemoryFile(join(view.home, getMemoryFile(id)), view.id, memory)
    const { pid, qmp } = await bootIncoming({ kind: 'saved memory', files: [file.handle] }, deadline)
    await writeForkMarker(state.view().home, pid)
    await waitForLoad(qmp, deadline)
    const { persisted } = await continueFork(state, qmp)
    await persisted
  })
}

/**
 * Makes running machines of a snapshot (see `ForkDriver.forkSnapshot`). Each loads the memory of the snapshot for itself. They exist
 * when the journal has forgotten them, all at once.
 */
export const forkSnapshot = async (
  source: QemuMachine,
  snapshotId: string,
  newForks: readonly NewFork[],
  context: ForkContext,
  deadline: AbortSignal,
): Promise<ForkedMachines> => {
  const { journal, sources, createMachine, discard, register, log } = context
  const snapshot = requireSnapshot(source.view(), snapshotId)
  const view = viewSnapshot(source.view(), snapshot)
  if (snapshot.memory) assertCardsReplaceable(view)
  assertLinkable(view)
  using _reading = await sources.lockForReading(view, deadline)
  const forks = newForks.map(fork => ({ ...fork, id: fork.id ?? crypto.randomUUID() }))
  const record = await journal.begin(forks.map(({ id }) => id))
  const made = new Map<string, QemuMachine>()
  try {
    await forEachConcurrent(Readable.from(forks), concurrency, async (fork: IdentifiedFork) => {
      const machine = createMachine(await makeFolder(view, snapshot, fork, context, deadline))
      made.set(fork.id, machine)
      await startFork(machine, view, snapshot, deadline)
    })
  } catch (error) {
    for (const machine of made.values()) machine.release()
    for (const { id } of forks) await discard(id)
    await record.end()
    throw error
  }
  await record.end()
  const machines = forks.map(({ id }) => made.get(id)!)
  for (const machine of machines) {
    register(machine)
    // Nobody knows whether the guest of the snapshot had an agent.
    if (snapshot.memory) void renewIdentity(machine, { hasAgent: true, log })
  }
  return { source: source.view(), forks: machines.map(machine => machine.view()) }
}
