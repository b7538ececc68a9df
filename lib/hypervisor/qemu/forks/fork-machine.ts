import { join } from 'node:path'
import { Readable } from 'node:stream'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import type { ForkedMachines, NewFork } from '../../fork.ts'
import type { MachineFolders } from '../../files/machine-folders.ts'
import { copySeed } from '../../seed/seed-files.ts'
import type { Attachments } from '../attached-files.ts'
import { copyOwnFiles } from '../disks.ts'
import { assertSameParts } from '../hardware/same-parts.ts'
import type { Images } from '../images.ts'
import { createOverlay } from '../layers.ts'
import { endPause, listOverlayDisks } from '../layers/pause.ts'
import { discardOverlays, type PreparedOverlay, prepareOverlays, switchToOverlays } from '../layers/put-overlays.ts'
import type { MachineOperation, QemuMachine } from '../machine.ts'
import { assertForkable, describeFork } from './describe-fork.ts'
import { saveDeviceState } from './device-state.ts'
import type { ForkJournal } from './journal.ts'
import { copyMemory, createMemoryFiles, openMemoryFiles } from './memory-files.ts'
import { renewIdentity } from './renew-identity.ts'
import { type StartingFork, startFork } from './start-fork.ts'

export interface ForkContext {
  readonly folders: Pick<MachineFolders, 'create' | 'home'>
  readonly journal: ForkJournal
  readonly images: Images
  readonly attachments: Attachments
  readonly createMachine: (definition: Definition) => QemuMachine
  readonly register: (machine: QemuMachine) => void
  /** Ends the QEMU of a machine that is not registered, and removes all that there is of the machine. */
  readonly discard: (id: string) => Promise<void>
  readonly log: Logger
}

/** QEMUs that are started at the same time. */
const concurrency = 4

/** Makes the folder of a fork, with disks that build on what is below the overlays of the source. */
const makeFolder = async (
  source: QemuMachine,
  fork: NewFork,
  overlays: readonly PreparedOverlay[],
  { folders, images, attachments }: ForkContext,
  deadline: AbortSignal,
): Promise<Definition> => {
  const { definition, home } = source.view()
  return folders.create(fork.id, async folder => {
    const described = describeFork(definition, fork, overlays)
    for (const [at, { base }] of overlays.entries())
      await createOverlay(base, join(folder, described.disks[at]!.path), images)
    const copy = { source: definition, attachments, home, folder, images, deadline, onProgress: () => {} }
    await copyOwnFiles(definition, copy)
    await copySeed(home, folder, described)
    return described
  })
}

/** Halts the guest for as long as `work` takes. It continues in any case, if it ran. */
const pauseDuring = async <T>(
  { machine, control, journal, pauseGuest, continueGuest }: MachineOperation,
  work: () => Promise<T>,
): Promise<T> => {
  const { state } = machine.view()
  const { qmp } = await control.connect()
  await journal.writeOperation({ verb: 'fork', from: state })
  try {
    if (state === 'running') await pauseGuest(qmp)
    try {
      return await work()
    } finally {
      await endPause(qmp, state).catch(() => continueGuest(qmp))
    }
  } finally {
    await journal.writeOperation(undefined).catch(machine.warn)
  }
}

/** Forks a machine within an operation of it. Returns the forks, which run. */
const forkWithin = async (
  operation: MachineOperation,
  source: QemuMachine,
  forks: readonly NewFork[],
  context: ForkContext,
  deadline: AbortSignal,
): Promise<readonly QemuMachine[]> => {
  const { images, attachments, createMachine } = context
  const view = source.view()
  const running = await operation.control.connect()
  const { pid, qmp } = running
  await assertSameParts(qmp, view.definition)
  await using memory = await openMemoryFiles(pid, view.definition)
  await using template = await createMemoryFiles(running, view.definition)
  const overlays = await prepareOverlays(await listOverlayDisks(view), { qmp, images, account: attachments.account })
  let isSwitched = false
  const starting: StartingFork[] = []
  try {
    const warmUp = copyMemory(pid, memory, template, { isPaused: false })
    warmUp.catch(() => {})
    const start = async (fork: NewFork): Promise<void> => {
      const machine = createMachine(await makeFolder(source, fork, overlays, context, deadline))
      const one = startFork(machine, template, deadline)
      starting.push(one)
      await one.ready
    }
    await forEachConcurrent(Readable.from(forks), concurrency, start)
    await warmUp
    const state = await pauseDuring(operation, async () => {
      isSwitched = true
      await switchToOverlays(qmp, overlays)
      const [saved] = await Promise.all([
        saveDeviceState(qmp, view.home, deadline),
        copyMemory(pid, memory, template, { isPaused: true }),
      ])
      return saved
    })
    await Promise.all(starting.map(one => one.load(state)))
    const order = new Map(forks.map(({ id }, at) => [id, at]))
    const place = ({ id }: MachineView): number => order.get(id) ?? 0
    return starting.map(({ machine }) => machine).toSorted((a, b) => place(a.view()) - place(b.view()))
  } catch (error) {
    if (!isSwitched) await discardOverlays(overlays)
    await Promise.all(starting.map(one => one.abandon()))
    throw error
  }
}

/**
 * Forks a running or paused machine (see `ForkDriver`). The forks share the pages of the template, which is in no folder, and each
 * keeps its changes for itself. They exist when the journal has forgotten them, all at once.
 */
export const forkMachine = async (
  source: QemuMachine,
  forks: readonly NewFork[],
  context: ForkContext,
  deadline: AbortSignal,
): Promise<ForkedMachines> => {
  const { journal, register, discard, log } = context
  assertForkable(source.view())
  const hasAgent = source.agentPort.current() !== undefined
  const ids = forks.map(({ id }) => id)
  const commit = await journal.begin(ids)
  let machines: readonly QemuMachine[] = []
  try {
    await source.operate(deadline, async operation => {
      machines = await forkWithin(operation, source, forks, context, deadline)
    })
  } catch (error) {
    for (const id of ids) await discard(id)
    await commit()
    throw error
  }
  await commit()
  for (const machine of machines) {
    register(machine)
    void renewIdentity(machine, { hasAgent, log })
  }
  return { source: source.view(), forks: machines.map(machine => machine.view()) }
}
