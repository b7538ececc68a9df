import { abortable } from '#lib/async/abortable.ts'
import type { Definition } from '../../definition.ts'
import type { ForkedMachines, NewFork } from '../../fork.ts'
import { copySeed } from '../../seed/seed-files.ts'
import { assertSameParts } from '../hardware/same-parts.ts'
import { endPause } from '../layers/pause.ts'
import { switchToOverlays } from '../layers/put-overlays.ts'
import type { MachineOperation, QemuMachine } from '../machine.ts'
import type { ForkContext } from './context.ts'
import { assertForkable, describeFork } from './describe-fork.ts'
import { saveDeviceState } from './device-state.ts'
import { copyMemory } from './memory-files.ts'
import type { PreparedForks } from './prepare-forks.ts'
import { renewIdentity } from './renew-identity.ts'
import type { WaitingForks } from './waiting-forks.ts'

/** Halts the guest for as long as `work` takes. It continues in any case, if it ran. */
const pauseDuring = async <T>(
  { machine, control, pauseGuest, continueGuest }: MachineOperation,
  work: () => Promise<T>,
): Promise<T> => {
  const { state } = machine.view()
  const { qmp } = await control.connect()
  if (state === 'running') await pauseGuest(qmp)
  try {
    return await work()
  } finally {
    await endPause(qmp, state).catch(() => continueGuest(qmp))
  }
}

/** Gives machines whose QEMUs wait the names and the other properties that forks were asked for with. */
const describeForks = async (
  source: QemuMachine,
  prepared: PreparedForks,
  forks: readonly NewFork[],
  { folders }: ForkContext,
): Promise<void> => {
  const { definition, home } = source.view()
  await Promise.all(
    forks.map(async (fork, at) => {
      const { machine } = prepared.forks[at]!
      const { id, networks } = machine.view().definition
      const described: Definition = { ...describeFork(definition, { ...fork, id }, prepared.overlays), networks }
      await folders.writeDefinition(described)
      await copySeed(home, machine.view().home, described)
      machine.setDefinition(described)
    }),
  )
}

/** Copies disks, memory and devices of the source, all as they are in one moment, and has the forks run. */
const copyToForks = async (
  operation: MachineOperation,
  source: QemuMachine,
  prepared: PreparedForks,
  deadline: AbortSignal,
): Promise<void> => {
  const { pid, qmp } = await operation.control.connect()
  const { home } = source.view()
  const state = await pauseDuring(operation, async () => {
    const saveDisksAndDevices = async (): Promise<Buffer> => {
      prepared.markSwitched()
      await switchToOverlays(qmp, prepared.overlays)
      return saveDeviceState(qmp, home, deadline)
    }
    const [saved] = await Promise.all([
      saveDisksAndDevices(),
      copyMemory(pid, prepared.memory, prepared.template, { isPaused: true }),
    ])
    return saved
  })
  await abortable(Promise.all(prepared.forks.map(one => one.load(state))), deadline)
}

/**
 * Forks a running or paused machine (see `ForkDriver`). The forks share the pages of the template, which is in no folder, and each
 * keeps its changes for itself. They exist when the journal has forgotten them, all at once.
 */
export const forkMachine = async (
  source: QemuMachine,
  forks: readonly NewFork[],
  context: ForkContext & { readonly waiting: WaitingForks },
  deadline: AbortSignal,
): Promise<ForkedMachines> => {
  const { register, waiting, log } = context
  assertForkable(source.view())
  const hasAgent = source.agentPort.current() !== undefined
  let machines: readonly QemuMachine[] = []
  await source.operate(deadline, async operation => {
    const { journal, machine, control } = operation
    await assertSameParts((await control.connect()).qmp, source.view().definition)
    await using prepared = await waiting.take(operation, source, forks, deadline)
    try {
      await Promise.all([
        describeForks(source, prepared, forks, context),
        journal.writeOperation({ verb: 'fork', from: source.view().state }),
      ])
      await copyToForks(operation, source, prepared, deadline)
    } finally {
      await journal.writeOperation(undefined).catch(machine.warn)
    }
    await prepared.commit()
    machines = prepared.forks.map(one => one.machine)
    for (const one of machines) register(one)
  })
  for (const machine of machines) void renewIdentity(machine, { hasAgent, log })
  // Forks with given ids cannot use it.
  if (forks[0]?.id === undefined) waiting.renew(source)
  return { source: source.view(), forks: machines.map(machine => machine.view()) }
}
