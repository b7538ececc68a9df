import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { abortable } from '#lib/async/abortable.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { renameSynced } from '#lib/platform/files.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, RunOptions, DriverEvent, StableState, Verb } from '../driver.ts'
import { explainFileError } from '../files/file-faults.ts'
import type { MachineFolders } from '../files/machine-folders.ts'
import { type AgentPort, createAgentPort } from './agent-port.ts'
import { changeState, type StateChange } from './change-state.ts'
import { syncMachineDisk } from './disks/machine-disk.ts'
import { type LaunchParts, launchSession, openLaunchFiles } from './launch.ts'
import { writePersistedState, type PersistedState } from './persisted-state.ts'
import { requestShutdown } from './request-shutdown.ts'
import type { SessionEnd, Session } from './worker-session.ts'

/** Milliseconds until a guest that restarts itself is booted: one that does so all the time must not keep the service busy. */
const rebootDelay = 1_000
/** Milliseconds for that boot. */
const rebootTimeout = 60_000
/** Name of the saved state of a suspended machine in its folder. */
export const stateFileName = 'state.bin'

interface MachineOptions extends LaunchParts {
  readonly view: MachineView
  readonly folders: MachineFolders
  readonly log: Logger
  readonly onEvent: (event: DriverEvent) => void
}

/** A machine with a valid definition. Callers make one call at a time. */
export interface Machine {
  view(): MachineView
  run(verb: Verb, options: RunOptions): Promise<MachineView>
  /** Replaces the definition. */
  setDefinition(definition: Definition): MachineView
  /**
   * Restores the saved state. The machine is running or paused then. Throws `conflict` for an unusable state; the reason becomes the
   * machine's problem.
   */
  restore(to: 'running' | 'paused', deadline: AbortSignal): Promise<MachineView>
  /** Suspends a running or paused machine. The next start of the service restores it to the same state. */
  suspendForShutdown(deadline: AbortSignal): Promise<void>
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
  const { view: initialView, folders, hostFiles, claims, log, onEvent } = options
  let view = initialView
  let session: Session | undefined
  /** The session whose end a stop operation waits for. That operation handles the end; `onExit` does not. */
  let stoppingSession: Session | undefined
  /** Settles when the last exit of a guest is handled. The next operation waits for it. */
  let exitHandling: Promise<void> | undefined
  let lastUsedAt = initialView.since
  const { id, home } = initialView
  const stateFile = join(home, stateFileName)

  /** Creates the view of this machine in another state. */
  const createView = (state: StableState, change: StateChange = {}): MachineView =>
    changeState(view, state, { ...change, ...(state === 'suspended' && { stateFile }) })
  const logFailure = (what: string) => (error: unknown) =>
    log.error('Machine {name}: {what}: {error}', { name: view.name, what, error: messageOf(error) })
  /** Records a state in which the machine already is. A failed write is only logged, because it does not change that state. */
  const recordView = async (next: MachineView): Promise<void> => {
    await writePersistedState(folders, next).catch(logFailure('its state could not be written'))
    view = next
  }
  const agentPort = createAgentPort({
    name: () => view.name,
    isRunning: () => view.state === 'running',
    onReport: ({ facts, addresses }) => {
      view = { ...view, guest: facts, addresses }
      onEvent({ view, cause: 'guest' })
    },
  })
  const requireSession = (): Session => {
    if (!session) throw new ServiceError('conflict', `${view.name} has stopped before that was done.`)
    return session
  }

  /** Terminates the session, then makes the writes of its guest durable. */
  const endSession = async (): Promise<void> => {
    const current = session
    session = undefined
    await current?.terminate()
    if (current) await syncMachineDisk(view).catch(logFailure('its disk could not be made durable'))
  }
  const enterStopped = async (problem?: string): Promise<void> => {
    await endSession()
    claims.release(id)
    await recordView(createView('stopped', problem === undefined ? {} : { problem }))
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
    onEvent({ view, cause: problem === undefined ? 'guest' : 'crash' })
  }
  const watchExit = async (started: Session): Promise<void> => {
    const ending = await started.ended
    if (session === started && stoppingSession !== started) await (exitHandling = onExit(ending))
  }
  /** Makes a session that was started the session of this machine. */
  const attachSession = (started: Session): void => {
    session = started
    agentPort.attach(started)
    void watchExit(started)
  }

  /** Starts the machine without a saved state. */
  const boot = async (to: 'running' | 'paused', deadline: AbortSignal): Promise<void> => {
    let started: Session | undefined
    try {
      started = await launchSession(view, { ...options, deadline })
      const next = createView(to, { booted: true })
      // Written before the guest runs. Else, after a crash of the service, the next start would take the machine for stopped.
      await writePersistedState(folders, next)
      if (to === 'running') await started.run(deadline)
      view = next
    } catch (error) {
      await started?.terminate()
      claims.release(id)
      await recordView(view)
      throw error
    }
    attachSession(started)
  }
  const restore = async (to: 'running' | 'paused', deadline: AbortSignal): Promise<void> => {
    let started: Session | undefined
    try {
      started = await launchSession(view, { ...options, deadline, state: stateFile })
      if (to === 'running') await started.run(deadline)
      const next = createView(to)
      await writePersistedState(folders, next)
      view = next
    } catch (error) {
      await started?.terminate()
      // The persisted state is still `suspended`, so a later restore can use the saved state: that state names its disk.
      await recordView({ ...view, ...(!deadline.aborted && { problem: messageOf(error) }) })
      throw error
    }
    attachSession(started)
    agentPort.setTime()
    await rm(stateFile, { force: true })
  }
  const suspend = async (deadline: AbortSignal, restoreTo?: PersistedState['resume']): Promise<void> => {
    const current = requireSession()
    const temporary = `${stateFile}.tmp`
    const next = createView('suspended')
    try {
      await current.save(temporary, deadline)
      // Written before the saved state gets its name: the next start takes a saved state of a running machine for a used one.
      await writePersistedState(folders, next, restoreTo)
      await renameSynced(temporary, stateFile)
    } catch (error) {
      await continueExecution(current)
      throw error
    }
    await endSession()
    view = next
  }
  /** Continues a machine after a failed pause or suspend. */
  const continueExecution = async (current: Session): Promise<void> => {
    if (session !== current) return
    await recordView(view)
    // Not awaited, because a guest that keeps its thread busy answers late. It runs then.
    if (view.state === 'running') current.run(new AbortController().signal).catch(() => {})
  }
  const pause = async (deadline: AbortSignal): Promise<void> => {
    const current = requireSession()
    const next = createView('paused')
    try {
      await current.pause(deadline)
      await writePersistedState(folders, next)
    } catch (error) {
      await continueExecution(current)
      throw error
    }
    view = next
  }
  const unpause = async (deadline: AbortSignal): Promise<void> => {
    await requireSession().run(deadline)
    await recordView(createView('running'))
    agentPort.setTime()
  }
  const shutDown = async (deadline: AbortSignal): Promise<void> => {
    const current = requireSession()
    stoppingSession = current
    let ending: SessionEnd
    try {
      await requestShutdown(current, view, agentPort.current())
      ending = await abortable(current.ended, deadline)
    } finally {
      stoppingSession = undefined
    }
    await enterStopped(ending.problem)
  }
  const stop = async ({ force, deadline }: RunOptions): Promise<void> => {
    if (!force) return shutDown(deadline)
    await enterStopped()
    await rm(stateFile, { force: true })
  }
  const resume = (deadline: AbortSignal): Promise<void> =>
    view.state === 'suspended' ? restore('running', deadline) : unpause(deadline)

  /**
   * Throws if the machine could not start again: a file is missing, or the disk is full. A restart checks this first, so that the
   * machine continues to run then.
   */
  const assertRestartable = async (): Promise<void> => {
    await (await openLaunchFiles(view, hostFiles))[Symbol.asyncDispose]()
    await writePersistedState(folders, view)
  }

  const runVerb = async (verb: Verb, runOptions: RunOptions): Promise<void> => {
    const { deadline } = runOptions
    switch (verb) {
      case 'start':
        return view.state === 'stopped' ? boot('running', deadline) : resume(deadline)
      case 'stop':
        return stop(runOptions)
      case 'restart':
        await assertRestartable()
        await shutDown(deadline)
        return boot('running', deadline)
      case 'reset': {
        const to = view.state === 'paused' ? 'paused' : 'running'
        await assertRestartable()
        await enterStopped()
        return boot(to, deadline)
      }
      case 'pause':
        return pause(deadline)
      case 'suspend':
        return suspend(deadline)
      case 'resume':
        return resume(deadline)
    }
  }

  return {
    view: () => view,
    async run(verb, runOptions) {
      lastUsedAt = Date.now()
      await exitHandling
      try {
        await runVerb(verb, runOptions)
        return view
      } catch (error) {
        throw await explainFileError(error, home)
      }
    },
    setDefinition(definition) {
      lastUsedAt = Date.now()
      view = { ...view, definition, name: definition.name }
      return view
    },
    async restore(to, deadline) {
      await restore(to, deadline)
      return view
    },
    lastUsedAt: () => lastUsedAt,
    async suspendForShutdown(deadline) {
      await exitHandling
      if (view.state === 'running' || view.state === 'paused') await suspend(deadline, view.state)
    },
    sendInput(bytes) {
      lastUsedAt = Date.now()
      requireSession().sendInput('console', bytes)
    },
    agentPort,
    async kill(problem) {
      const current = session
      session = undefined
      await recordView(createView('stopped', { problem }))
      // Not awaited, because a thread that hangs in a system call ends only with the process.
      current?.terminate().catch(() => {})
    },
  }
}
