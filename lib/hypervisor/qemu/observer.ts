import { join } from 'node:path'
import { waitAtMost } from '#lib/async/time-limit.ts'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { exists } from '#lib/platform/files.ts'
import { abortable } from '#lib/async/abortable.ts'
import type { RunOptions, ChangeCause } from '../driver.ts'
import type { AgentPort } from './agent/agent-port.ts'
import { fileNames } from './file-names.ts'
import { type ProcessControl, createProcessControl, quitTimeout } from './process-control.ts'
import type { MachineState } from './machine-state.ts'
import type { LinkWatch } from './network/watch-links.ts'
import type { OperationJournal } from './operation-journal.ts'
import { createThrottle } from './throttle.ts'
import type { LaunchContext } from './process.ts'
import type { Qmp, QmpEvent } from './qmp.ts'
import { chooseRecoveryAction, determineStateAfterExit } from './recovery.ts'
import { adoptOverlays } from './layers/put-overlays.ts'
import { endStreamJobs } from './layers/stream-job.ts'
import { endPause, listOverlayDisks } from './layers/pause.ts'
import { cancelMigration, deleteMemory, markMemoryLoaded, waitForLoad } from './saved-memory.ts'
import { crashProblem, QemuStatus, toMachineState, noAnswerProblem } from './status.ts'

/** Tracks the state of a machine, whatever changes it. */
export interface Observer {
  readonly control: ProcessControl
  /**
   * Determines the state of the machine at the start of the service, and completes or rolls back an interrupted operation. A long
   * recovery continues after this has resolved; until it ends, the view has a problem that says so.
   */
  recover(): Promise<void>
  /** Runs an operation. Events during it are not lost: the status is refreshed at its end. */
  runOperation(options: RunOptions, work: () => Promise<void>): Promise<void>
  /** Continues a running guest after an operation that has stopped it and failed: now, or when QEMU answers again. */
  continueGuest(qmp: Qmp): void
  release(): void
}

/** Milliseconds that QEMU has to answer a status query. It answers at once unless its process is stopped. */
const statusTimeout = 2_000
/** Milliseconds until the next query after QEMU did not answer: the first delay and the longest. */
const retryDelays = [1_000, 10_000] as const
/**
 * The number of refreshes that may follow at once, and the milliseconds for each further one. Each refresh may publish and store
 * another state, and a compromised QEMU can change its state as often as it likes.
 */
const refreshPace = [10, 10_000] as const
/** Milliseconds that the start of the service waits for the recovery of one machine. */
const recoveryTimeout = 5_000

const Shutdown = z.object({ guest: z.boolean().optional() })

interface Options {
  readonly context: LaunchContext
  readonly journal: OperationJournal
  readonly machine: MachineState
  readonly agentPort: AgentPort
  readonly links: LinkWatch
}

export const createObserver = ({ context, journal, machine, agentPort, links }: Options): Observer => {
  const { home } = context
  /** The last SHUTDOWN event of QEMU. */
  let shutdownEvent: z.infer<typeof Shutdown> | undefined
  /** Running operations, which refresh the status at their end: one, or a hanging one and the forced stop that ends it. */
  let operationCount = 0
  /** Resolves when all operations that have begun so far have ended. */
  let previousOperations: Promise<void> = Promise.resolve()
  /** True during a forced stop, which alone determines the state afterwards. */
  let isForcedStop = false
  /** True if something has happened since the last refresh. */
  let isStale = false
  let refreshing: Promise<void> | undefined
  let refreshTimer: NodeJS.Timeout | undefined
  const reserveRefresh = createThrottle(...refreshPace)
  let retryDelay: number = retryDelays[0]
  /** True if the guest must go on as soon as QEMU answers. */
  let mustContinue = false
  /** False until the recovery after a start of the service is complete. */
  let recovered = true
  let released = false
  const forcedStop = new AbortController()

  const onEvent = (qmpEvent: QmpEvent): void => {
    const { event, data } = qmpEvent
    agentPort.onEvent(qmpEvent)
    links.onEvent(qmpEvent)
    if (event === 'SHUTDOWN') shutdownEvent = Shutdown.safeParse(data).data ?? {}
    // After SHUTDOWN the connection ends, and that handler decides.
    else if (!shutdownEvent && ['STOP', 'RESUME', 'BLOCK_IO_ERROR', 'GUEST_PANICKED'].includes(event)) onChange()
  }
  const startRefresh = (): void => {
    refreshTimer = undefined
    if (!isStale || operationCount > 0 || released) return
    refreshing = refreshStatus('host').finally(() => {
      refreshing = undefined
      if (isStale) onChange()
    })
  }
  const scheduleRefresh = (delay: number): void => {
    isStale = true
    if (delay > 0) refreshTimer ??= setTimeout(startRefresh, delay).unref()
    else startRefresh()
  }
  const onChange = (): void => {
    isStale = true
    if (operationCount > 0 || released || refreshing || refreshTimer) return
    scheduleRefresh(reserveRefresh())
  }
  const control = createProcessControl({
    context,
    name: () => machine.view().name,
    onEvent,
    onConnect(qmp) {
      shutdownEvent = undefined
      void agentPort.attach(qmp)
      void links.attach(qmp)
    },
    onDisconnect: onChange,
  })

  const onExit = async (): Promise<void> => {
    if (isForcedStop) return
    if (!recovered) return recoverAfterExit()
    const { state } = machine.view()
    if (state !== 'running' && state !== 'paused') return
    if (shutdownEvent) await machine.changeState('stopped', { cause: shutdownEvent.guest ? 'guest' : 'host' })
    else await machine.changeState('stopped', { problem: crashProblem, cause: 'crash' })
  }
  /** QEMU runs but does not answer: query it again until it answers or has exited. */
  const onNoAnswer = async (error: unknown): Promise<void> => {
    const { state, problem } = machine.view()
    const reason = `${noAnswerProblem}: ${messageOf(error instanceof Error && error.cause ? error.cause : error)}`
    if (problem !== reason)
      await machine.changeState(state === 'stopped' ? 'running' : state, { problem: reason, cause: 'host' })
    scheduleRefresh(Math.max(retryDelay, reserveRefresh()))
    retryDelay = Math.min(2 * retryDelay, retryDelays[1])
  }
  const queryState = async (qmp: Qmp) =>
    toMachineState((await qmp.query('query-status', QemuStatus, statusTimeout)).status)
  /** Updates the view from the status of QEMU, or because it does not answer or has exited. Never throws. */
  const refreshStatus = async (cause?: ChangeCause): Promise<void> => {
    isStale = false
    if (released) return
    try {
      if (!recovered) await recoverProcess()
      const { qmp } = await control.connect()
      let found = await queryState(qmp)
      if (mustContinue && found.state === 'paused') {
        await qmp.execute('cont')
        found = await queryState(qmp)
      }
      mustContinue = false
      const { state, problem } = found
      const view = machine.view()
      if (state !== view.state || problem !== view.problem) await machine.changeState(state, { problem, cause })
    } catch (error) {
      if (released) return
      control.disconnect()
      await ((await control.isGone(quitTimeout)) ? onExit() : onNoAnswer(error)).catch(machine.warn)
    }
  }

  const recoverAfterExit = async (): Promise<void> => {
    const [persisted, operation] = [await journal.readState(), await journal.readOperation()]
    const { state, problem } = determineStateAfterExit(
      persisted,
      operation,
      await exists(join(home, fileNames.stateFile)),
    )
    const view = machine.view()
    if (state !== view.state || problem !== view.problem)
      await machine.changeState(state, { problem, cause: 'recovery' })
    if (state !== 'suspended') await deleteMemory(home)
    await journal.writeOperation(undefined)
    recovered = true
  }
  const recoverRunning = async (): Promise<void> => {
    const [persisted, operation] = [await journal.readState(), await journal.readOperation()]
    const { qmp } = await control.connect()
    const { status } = await qmp.query('query-status', QemuStatus, statusTimeout)
    switch (chooseRecoveryAction(status, persisted, operation)) {
      case 'end suspended':
        await control.quit()
        break
      case 'undo suspend':
        await cancelMigration(qmp, forcedStop.signal)
        await deleteMemory(home)
        if (operation?.from === 'running') await qmp.execute('cont')
        break
      case 'end pause':
        await cancelMigration(qmp, forcedStop.signal)
        await endStreamJobs(qmp)
        await adoptOverlays(qmp, await listOverlayDisks(machine.view()))
        await endPause(qmp, operation?.from)
        break
      case 'finish resume':
        machine.setView(machine.viewIn('paused', toMachineState(status)))
        await waitForLoad(qmp, forcedStop.signal)
        if (await exists(join(home, fileNames.stateFile))) await markMemoryLoaded(home)
        await qmp.execute('cont')
        await machine.changeState('running', { cause: 'recovery' })
        await deleteMemory(home)
        break
      case 'none':
    }
    await journal.writeOperation(undefined)
    recovered = true
  }
  /** Completes or rolls back the operation that a killed service had begun. Throws if QEMU runs and does not answer. */
  const recoverProcess = async (): Promise<void> => ((await control.isGone(0)) ? recoverAfterExit() : recoverRunning())

  /** Fails all other operations by ending the QEMU they wait for. */
  const abortOthers = async (): Promise<void> => {
    isForcedStop = true
    forcedStop.abort(new ServiceError('conflict', `${machine.view().name} was stopped by force before that was done.`))
    if (operationCount > 1 || refreshing) await control.quit()
  }

  return {
    control,
    async recover() {
      // An unreadable persisted state of one machine must not hide the others.
      const persisted = await journal.readState().catch((error: unknown) => {
        machine.warn(error)
        return undefined
      })
      if (persisted) {
        const { since, ranFor } = persisted
        machine.setView({ ...machine.viewIn(persisted.state, { problem: persisted.problem }), since, ranFor })
      }
      recovered = false
      onChange()
      const isLate = refreshing !== undefined && !(await waitAtMost(refreshing, recoveryTimeout))
      const view = machine.view()
      if (isLate && view.problem === undefined)
        machine.setView({ ...view, problem: `${noAnswerProblem}: it has not answered yet` })
    },
    async runOperation({ force, deadline }, work) {
      const pending = Promise.all([previousOperations, refreshing])
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
      previousOperations = previousOperations.then(() => finished)
      operationCount += 1
      try {
        if (force) await abortOthers()
        await abortable(pending, deadline)
        if (!recovered && !force) await recoverProcess()
        mustContinue = false
        try {
          await work()
          recovered = true
          retryDelay = retryDelays[0]
        } finally {
          if (force) isForcedStop = false
          await refreshStatus()
        }
      } finally {
        if (force) isForcedStop = false
        operationCount -= 1
        finish()
        if (isStale) onChange()
      }
    },
    continueGuest(qmp) {
      if (machine.view().state !== 'running') return
      mustContinue = true
      // A QEMU that is halted executes this later, but not if the connection has ended by then.
      qmp.execute('cont').catch(() => {})
    },
    release() {
      released = true
      clearTimeout(refreshTimer)
      control.disconnect()
    },
  }
}
