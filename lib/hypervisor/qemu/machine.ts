import type { FileHandle } from 'node:fs/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import { firstInherited } from '#lib/platform/open-file.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, RunOptions, DriverEvent, Verb } from '../driver.ts'
import type { SnapshotTree } from '../snapshot.ts'
import { explainFileError } from '../files/file-faults.ts'
import { type AttachedFiles, type Attachments, openAttachedFiles } from './attached-files.ts'
import type { Accelerator } from './accelerator.ts'
import { type AgentPort, createAgentPort } from './agent/agent-port.ts'
import { buildQemuArguments } from './arguments/build.ts'
import type { Incoming } from './arguments/machine.ts'
import { type ProcessControl, quitTimeout } from './process-control.ts'
import { explainLockedImage } from './locked-image.ts'
import { toPersistedState, createMachineState, type MachineState } from './machine-state.ts'
import type { OperationJournal } from './operation-journal.ts'
import { type MemoryOwner, openMemory } from './memory-file.ts'
import type { HostNetwork } from './network/host-network.ts'
import { explainTakenPort } from './network/monitor.ts'
import { createLinkWatch } from './network/watch-links.ts'
import { createObserver } from './observer.ts'
import { limitDisks } from './hardware/limits.ts'
import { assertSameParts } from './hardware/same-parts.ts'
import { shutDownGracefully } from './power-button.ts'
import { launchQemu, type LaunchContext, type RunningQemu, explainExit } from './process.ts'
import type { Qmp } from './qmp.ts'
import { assertSuspendable, deleteMemory, saveMemory, markMemoryLoaded, waitForLoad } from './saved-memory.ts'

export interface QemuMachine {
  view(): MachineView
  /** Determines the state of the machine at the start of the service. Long recoveries continue after this has resolved. */
  recover(): Promise<void>
  run(verb: Verb, runOptions: RunOptions): Promise<MachineView>
  /** The port to the guest agent. */
  readonly agentPort: Pick<AgentPort, 'current' | 'require'>
  /** The connection to the QEMU of a running machine. */
  readonly control: Pick<ProcessControl, 'connect' | 'current' | 'subscribe'>
  /** Replaces the definition, which is already persisted. */
  setDefinition(definition: Definition): MachineView
  /** Replaces the snapshots, which are already persisted. */
  setSnapshots(snapshots: SnapshotTree | undefined): MachineView
  /** Changes which network cards are disconnected, and reports it. */
  setDisconnectedCards(cards: readonly string[]): void
  /** Changes whether a process waits for the next fork of the machine, and reports it. */
  setForkReady(ready: boolean): void
  /** Runs other work as an operation of the machine, alone. Returns the view afterwards. */
  operate(deadline: AbortSignal, work: (operation: MachineOperation) => Promise<void>): Promise<MachineView>
  /** Disconnects from the machine. Its QEMU keeps running. */
  release(): void
}

/** What an operation of a machine does it with. */
export interface MachineOperation {
  readonly machine: MachineState
  readonly control: ProcessControl
  readonly owner: MemoryOwner
  readonly journal: OperationJournal
  /** Pauses the guest. If that fails, the guest continues. */
  pauseGuest(qmp: Qmp): Promise<void>
  /** Continues a running guest: now, or when QEMU answers again. */
  continueGuest(qmp: Qmp): void
  /** Starts QEMU with the saved memory of the machine. The guest continues, unless it was `paused`. */
  resumeSuspended(deadline: AbortSignal, state?: 'running' | 'paused'): Promise<void>
  /** Starts a QEMU that waits with a guest that is `incoming`. */
  bootIncoming(incoming: IncomingFiles, deadline: AbortSignal): Promise<RunningQemu>
}

/** A guest that QEMU does not boot (see `Incoming`), with the open files that it comes from. */
interface IncomingFiles {
  readonly kind: Incoming['kind']
  readonly files: readonly FileHandle[]
}

interface Options {
  readonly definition: Definition
  readonly home: string
  readonly journal: OperationJournal
  readonly attachments: Attachments
  readonly context: LaunchContext
  readonly accelerator: Accelerator
  readonly network: HostNetwork
  readonly report: (event: DriverEvent) => void
  readonly log: Logger
}

/** Creates a machine on QEMU. Its operations run one at a time; only a forced stop may run beside another one. */
export const createQemuMachine = (options: Options): QemuMachine => {
  const { home, journal, attachments, context, accelerator, network } = options
  const machine = createMachineState(options)
  const { view, changeState, warn } = machine
  const agentPort = createAgentPort({
    ...context,
    name: () => view().name,
    isRunning: () => view().state === 'running',
    onReport: machine.setGuest,
  })
  const links = createLinkWatch({ home, network, view, onChange: machine.setDisconnectedCards, log: options.log })
  const observer = createObserver({ context, journal, machine, agentPort, links })
  const { control } = observer
  const owner: MemoryOwner = { id: options.definition.id, home, journal }

  /** Opens and validates the host files that the machine runs with. */
  const openAttachments = (): Promise<AttachedFiles> => openAttachedFiles(attachments, view())
  /** Starts QEMU, which waits with a guest that is `incoming`. */
  const boot = async (
    attachedFiles: AttachedFiles,
    deadline: AbortSignal,
    incoming?: IncomingFiles,
  ): Promise<RunningQemu> => {
    const files = incoming?.files.map(({ fd }) => fd) ?? []
    const descriptors = [...attachedFiles.descriptors, ...files]
    const inherited = files.map((_, at) => firstInherited + attachedFiles.descriptors.length + at)
    const prepared = await network.prepare(view().definition, home)
    const args = buildQemuArguments(attachedFiles.definition, accelerator, {
      ...(incoming && { incoming: { kind: incoming.kind, descriptors: inherited } }),
      links: prepared.links,
    })
    try {
      const running = control.attach(
        await launchQemu(context, { args, descriptors, onEvent: control.onEvent, deadline }),
      )
      await limitDisks(running.qmp, view().definition)
      return running
    } catch (error) {
      prepared.abandon()
      if (!(error instanceof ServiceError)) throw error
      const message = attachedFiles.restorePaths(error.message)
      throw (
        explainLockedImage(message) ??
        explainTakenPort(message) ??
        new ServiceError(error.fault, message, { cause: error })
      )
    }
  }
  const pauseGuest = async (qmp: Qmp): Promise<void> => {
    try {
      await qmp.execute('stop')
    } catch (error) {
      observer.continueGuest(qmp)
      throw error
    }
  }
  const shutDown = async (deadline: AbortSignal): Promise<void> => {
    const { qmp } = await control.connect()
    await shutDownGracefully(qmp, agentPort.current(), deadline)
    if (!(await control.isGone(quitTimeout))) throw await qmp.closed
    await changeState('stopped')
  }
  const suspend = async (deadline: AbortSignal): Promise<void> => {
    assertSuspendable(view())
    const { qmp } = await control.connect()
    await assertSameParts(qmp, view().definition)
    await pauseGuest(qmp)
    const suspended = machine.viewIn('suspended')
    try {
      await saveMemory(qmp, owner, deadline)
      // From this write on the saved memory is valid. It comes before QEMU quits, so that one of the two always exists.
      await journal.writeState(toPersistedState(suspended))
    } catch (error) {
      await deleteMemory(home).catch(warn)
      observer.continueGuest(qmp)
      throw error
    }
    await control.quit()
    machine.setView(suspended)
  }
  const loadMemory = async (deadline: AbortSignal): Promise<Qmp> => {
    let qmp: Qmp | undefined
    await using attachedFiles = await openAttachments()
    try {
      await using memory = await openMemory(owner)
      ;({ qmp } = await boot(attachedFiles, deadline, { kind: 'saved memory', files: [memory.handle] }))
      await waitForLoad(qmp, deadline)
      return qmp
    } catch (error) {
      const hasExited = qmp !== undefined && (await control.isGone(100))
      await control.quit()
      const reason = hasExited ? await explainExit(context) : await explainFileError(error, home)
      await changeState('suspended', { problem: `its saved memory could not be loaded: ${messageOf(reason)}` })
      throw new ServiceError(
        reason instanceof ServiceError ? reason.fault : 'upstream',
        `${view().name} stays suspended. ${messageOf(reason)} Try again, or drop its memory with a forced stop.`,
        { cause: error },
      )
    }
  }
  const resumeSuspended: MachineOperation['resumeSuspended'] = async (deadline, state = 'running') => {
    const qmp = await loadMemory(deadline)
    await markMemoryLoaded(home)
    machine.setView(machine.viewIn('paused'))
    if (state === 'running') {
      await qmp.execute('cont')
      agentPort.setTime()
    }
    await changeState(state)
    await deleteMemory(home).catch(warn)
  }

  const verbs: Readonly<Record<Verb, (runOptions: RunOptions) => Promise<void>>> = {
    async start({ deadline }) {
      await using attachedFiles = await openAttachments()
      await deleteMemory(home)
      await boot(attachedFiles, deadline)
      await changeState('running', { booted: true })
    },
    async stop({ force, deadline }) {
      if (force) await control.quit()
      else await shutDown(deadline)
      await changeState('stopped')
      await deleteMemory(home).catch(warn)
    },
    async restart({ deadline }) {
      // Opened before the stop: a machine that could not start again continues to run.
      await using attachedFiles = await openAttachments()
      await network.check(view().definition)
      await shutDown(deadline)
      await boot(attachedFiles, deadline)
      await changeState('running', { booted: true })
    },
    async reset() {
      await (await control.connect()).qmp.execute('system_reset')
      await changeState(view().state, { booted: true })
    },
    async pause() {
      await pauseGuest((await control.connect()).qmp)
      await changeState('paused')
    },
    async resume({ deadline }) {
      if (view().state === 'suspended') return resumeSuspended(deadline)
      await (await control.connect()).qmp.execute('cont')
      await changeState('running')
      agentPort.setTime()
    },
    suspend: ({ deadline }) => suspend(deadline),
  }
  const runVerb = async (verb: Verb, runOptions: RunOptions): Promise<void> => {
    const journaled = journal.writeOperation({ verb, from: view().state })
    // A full disk must not prevent a forced stop or a resume.
    await (runOptions.force || verb === 'resume' ? journaled.catch(warn) : journaled)
    try {
      await verbs[verb](runOptions)
    } finally {
      await journal.writeOperation(undefined).catch(warn)
    }
  }

  const runOperation = async (runOptions: RunOptions, work: () => Promise<void>): Promise<void> => {
    try {
      await observer.runOperation(runOptions, work)
    } catch (error) {
      throw await explainFileError(error, home)
    }
  }
  const bootIncoming: MachineOperation['bootIncoming'] = async (incoming, deadline) => {
    await using attachedFiles = await openAttachments()
    return await boot(attachedFiles, deadline, incoming)
  }
  const { continueGuest } = observer
  const operation = { machine, control, owner, journal, pauseGuest, continueGuest, resumeSuspended, bootIncoming }

  return {
    view,
    control,
    recover: observer.recover,
    async run(verb, runOptions) {
      await runOperation(runOptions, () => runVerb(verb, runOptions))
      const { name, state, problem } = view()
      if (['start', 'restart', 'resume'].includes(verb) && state !== 'running' && problem !== undefined)
        throw new ServiceError('upstream', `${name} did not go on, it is ${state}: ${problem}.`)
      return view()
    },
    setDefinition(definition) {
      machine.setView({ ...view(), definition, name: definition.name })
      return view()
    },
    setSnapshots(snapshots) {
      const { snapshots: _, ...others } = view()
      machine.setView({ ...others, ...(snapshots && { snapshots }) })
      return view()
    },
    setDisconnectedCards: machine.setDisconnectedCards,
    setForkReady: machine.setForkReady,
    async operate(deadline, work) {
      await runOperation({ force: false, deadline }, () => work(operation))
      return view()
    },
    agentPort,
    release: observer.release,
  }
}
