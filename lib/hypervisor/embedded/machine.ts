import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#lib/errors.ts'
import { renameSynced } from '#lib/platform/files.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, RunOptions, DriverEvent, Verb } from '../driver.ts'
import { explainFileError } from '../files/file-faults.ts'
import type { MachineFolders } from '../files/machine-folders.ts'
import type { SnapshotTree } from '../snapshot.ts'
import type { AgentPort } from './agent-port.ts'
import { syncMachineDisk } from './disks/machine-disk.ts'
import { type LaunchParts, launchSession, openLaunchFiles } from './launch.ts'
import { createMachineState, stateFileName } from './machine-state.ts'
import type { PersistedState } from './persisted-state.ts'
import type { StateToRestore } from './protocol.ts'
import { runVerb } from './run-verb.ts'
import { createSessionControl } from './session-control.ts'
import type { SessionEnd, Session } from './worker-session.ts'

/** Milliseconds until a guest that restarts itself is booted: one that does so all the time must not keep the service busy. */
const rebootDelay = 1_000
/** Milliseconds for that boot. */
const rebootTimeout = 60_000

interface MachineOptions extends LaunchParts {
  readonly view: MachineView
  readonly folders: MachineFolders
  readonly log: Logger
  readonly onEvent: (event: DriverEvent) => void
}

/** What a machine becomes when its files are replaced. */
interface Replaced {
  readonly definition: Definition
  readonly state: 'stopped' | 'suspended'
}

/** A machine with a valid definition. Callers make one call at a time. */
export interface Machine {
  view(): MachineView
  run(verb: Verb, options: RunOptions): Promise<MachineView>
  /** Replaces the definition. */
  setDefinition(definition: Definition): MachineView
  /** Replaces the snapshots, which are already persisted. */
  setSnapshots(snapshots: SnapshotTree): MachineView
  /**
   * Restores the saved state. The machine is running or paused then. Throws `conflict` for an unusable state; the reason becomes the
   * machine's problem.
   */
  restore(to: 'running' | 'paused', deadline: AbortSignal): Promise<MachineView>
  /**
   * Runs `work` while the guest of a running or paused machine is halted and its disk is on the host's disk. The guest continues in
   * any case, if it ran.
   */
  withGuestHalted(deadline: AbortSignal, work: (session: Pick<Session, 'save'>) => Promise<void>): Promise<void>
  /** Switches the machine off, and runs `work`, which replaces its files. No other operation begins meanwhile. */
  replaceFiles(work: () => Promise<Replaced>): Promise<MachineView>
  /** Starts a machine that has never run as a copy of another one, with the saved state of that. */
  startFork(state: StateToRestore, deadline: AbortSignal): Promise<void>
  /** Suspends a running or paused machine. The next start of the service restores it to the same state. */
  suspendForShutdown(deadline: AbortSignal): Promise<void>
  /** Draws the screen as a PNG. Throws `conflict` for a machine without a session, and as `Session.takeScreenshot`. */
  takeScreenshot(deadline: AbortSignal): Promise<Uint8Array>
  /** Sends input to the guest's console. Throws `conflict` if the machine does not run, and as `Session.sendInput`. */
  sendInput(bytes: Uint8Array): void
  readonly agentPort: AgentPort
  /** Time of the last request for the machine, in milliseconds since 1970. */
  lastUsedAt(): number
  /** Ends the machine at once, as a power cut does, and sets its problem. */
  kill(problem: string): Promise<void>
}

/** Creates the machine in the state of `view`. */
export const createMachine = (options: MachineOptions): Machine => {
  const { hostFiles, claims, onEvent } = options
  const { id, home, since } = options.view
  const machine = createMachineState(options)
  const { view, viewIn, persist, record, setView } = machine
  const stateFile = join(home, stateFileName)
  /** Settles when the files of the machine are replaced. The next operation waits for it. */
  let replacing: Promise<unknown> = Promise.resolve()
  let lastUsedAt = since

  /** Terminates the session, then makes the writes of its guest durable. */
  const endSession = async (): Promise<void> => {
    const current = control.detach()
    await current?.terminate()
    if (current) await syncMachineDisk(view()).catch(machine.warn('its disk could not be made durable'))
  }
  const enterStopped = async (problem?: string): Promise<void> => {
    await endSession()
    claims.release(id)
    await record(viewIn('stopped', problem === undefined ? {} : { problem }))
  }
  const bootAgain = async (): Promise<void> => {
    await endSession()
    await sleep(rebootDelay)
    await boot('running', AbortSignal.timeout(rebootTimeout)).catch((error: unknown) =>
      enterStopped(`it could not be booted again: ${messageOf(error)}`),
    )
  }
  const onExit = async ({ problem, isReboot = false }: SessionEnd): Promise<void> => {
    if (isReboot) await bootAgain()
    else await enterStopped(problem)
    onEvent({ view: view(), cause: problem === undefined ? 'guest' : 'crash' })
  }
  const control = createSessionControl({
    view,
    onReport({ facts, addresses }) {
      setView({ ...view(), guest: facts, addresses })
      onEvent({ view: view(), cause: 'guest' })
    },
    onExit,
  })
  const { agentPort } = control
  const beginOperation = async (): Promise<void> => {
    lastUsedAt = Date.now()
    await control.settled()
    await replacing
  }

  /** Starts the machine: without a saved state of its own, or as a copy of a machine with this state. */
  const boot = async (to: 'running' | 'paused', deadline: AbortSignal, state?: StateToRestore): Promise<void> => {
    let started: Session | undefined
    try {
      started = await launchSession(view(), { ...options, deadline, ...(state && { state }) })
      const next = viewIn(to, { booted: true })
      // Written before the guest runs. Else, after a crash of the service, the next start would take the machine for stopped.
      await persist(next)
      if (to === 'running') await started.run(deadline)
      setView(next)
    } catch (error) {
      await started?.terminate()
      claims.release(id)
      await record(view())
      throw error
    }
    control.attach(started)
  }
  const restore = async (to: 'running' | 'paused', deadline: AbortSignal): Promise<void> => {
    let started: Session | undefined
    try {
      started = await launchSession(view(), { ...options, deadline, state: { path: stateFile, id } })
      if (to === 'running') await started.run(deadline)
      const next = viewIn(to)
      await persist(next)
      setView(next)
    } catch (error) {
      await started?.terminate()
      // The persisted state is still `suspended`, so a later restore can use the saved state: that state names its disk.
      await record({ ...view(), ...(!deadline.aborted && { problem: messageOf(error) }) })
      throw error
    }
    control.attach(started)
    agentPort.setTime()
    await rm(stateFile, { force: true })
  }
  /** Lets the guest of a running machine continue after it was halted. */
  const continueGuest = (current: Session): void => {
    // Not awaited, because a guest that keeps its thread busy answers late. It runs then.
    if (control.isCurrent(current) && view().state === 'running')
      current.run(new AbortController().signal).catch(() => {})
  }
  /** Continues a machine after a failed pause or suspend. */
  const undoHalt = async (current: Session): Promise<void> => {
    if (control.isCurrent(current)) await record(view())
    continueGuest(current)
  }
  const suspend = async (deadline: AbortSignal, restoreTo?: PersistedState['resume']): Promise<void> => {
    const current = control.require()
    const temporary = `${stateFile}.tmp`
    const next = viewIn('suspended')
    try {
      await current.save(temporary, deadline)
      // Written before the saved state gets its name: the next start takes a saved state of a running machine for a used one.
      await persist(next, restoreTo)
      await renameSynced(temporary, stateFile)
    } catch (error) {
      await undoHalt(current)
      throw error
    }
    await endSession()
    setView(next)
  }
  const pause = async (deadline: AbortSignal): Promise<void> => {
    const current = control.require()
    const next = viewIn('paused')
    try {
      await current.pause(deadline)
      await persist(next)
    } catch (error) {
      await undoHalt(current)
      throw error
    }
    setView(next)
  }
  const unpause = async (deadline: AbortSignal): Promise<void> => {
    await control.require().run(deadline)
    await record(viewIn('running'))
    agentPort.setTime()
  }
  const shutDown = async (deadline: AbortSignal): Promise<void> => {
    const { problem } = await control.shutDown(deadline)
    await enterStopped(problem)
  }
  const resume = (deadline: AbortSignal): Promise<void> =>
    view().state === 'suspended' ? restore('running', deadline) : unpause(deadline)
  const assertRestartable = async (): Promise<void> => {
    // A file may be missing, or the disk full.
    await (await openLaunchFiles(view(), hostFiles))[Symbol.asyncDispose]()
    await persist(view())
  }
  const dropState = (): Promise<void> => rm(stateFile, { force: true })
  const steps = { boot, shutDown, switchOff: enterStopped, dropState, pause, suspend, resume, assertRestartable }

  return {
    view,
    async run(verb, runOptions) {
      await beginOperation()
      try {
        await runVerb(verb, view().state, runOptions, steps)
        return view()
      } catch (error) {
        throw await explainFileError(error, home)
      }
    },
    setDefinition(definition) {
      lastUsedAt = Date.now()
      setView({ ...view(), definition, name: definition.name })
      return view()
    },
    setSnapshots(snapshots) {
      setView({ ...view(), snapshots })
      return view()
    },
    async restore(to, deadline) {
      await restore(to, deadline)
      return view()
    },
    async withGuestHalted(deadline, work) {
      await beginOperation()
      deadline.throwIfAborted()
      const current = control.require()
      try {
        await current.pause(deadline)
        await work(current)
      } finally {
        continueGuest(current)
      }
    },
    async replaceFiles(work) {
      await beginOperation()
      const replaced = enterStopped().then(work)
      replacing = replaced.catch(() => {})
      const { definition, state } = await replaced
      setView({ ...viewIn(state, { booted: true }), definition })
      return view()
    },
    startFork: (state, deadline) => boot('running', deadline, state),
    lastUsedAt: () => lastUsedAt,
    async suspendForShutdown(deadline) {
      await control.settled()
      const { state } = view()
      if (state === 'running' || state === 'paused') await suspend(deadline, state)
    },
    takeScreenshot: async deadline => control.require().takeScreenshot(deadline),
    sendInput(bytes) {
      lastUsedAt = Date.now()
      control.require().sendInput('console', bytes)
    },
    agentPort,
    async kill(problem) {
      const current = control.detach()
      await record(viewIn('stopped', { problem }))
      // Not awaited, because a thread that hangs in a system call ends only with the process.
      current?.terminate().catch(() => {})
    },
  }
}
