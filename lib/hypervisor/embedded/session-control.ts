import { abortable } from '#lib/async/abortable.ts'
import { ServiceError } from '#lib/errors.ts'
import type { GuestReport } from '../agent/watch-guest.ts'
import type { MachineView } from '../driver.ts'
import { type AgentPort, createAgentPort } from './agent-port.ts'
import { requestShutdown } from './request-shutdown.ts'
import type { Session, SessionEnd } from './worker-session.ts'

/** The session of a machine that runs or is paused, and what happens when it ends. */
export interface SessionControl {
  /** Returns the session. Throws `conflict` if the machine has none. */
  require(): Session
  /** True for the session that the machine has now. */
  isCurrent(session: Session): boolean
  /** Makes a session that was started the session of the machine. */
  attach(started: Session): void
  /** Returns the session, which is that of the machine no more. Its end is not reported then. */
  detach(): Session | undefined
  /** Asks the guest to shut down, and waits for it. Throws as `requestShutdown`, and the reason of the deadline. */
  shutDown(deadline: AbortSignal): Promise<SessionEnd>
  /** Resolves when the last end of a guest is handled. The next operation waits for it. */
  settled(): Promise<void>
  readonly agentPort: AgentPort
}

interface Options {
  readonly view: () => MachineView
  readonly onReport: (report: GuestReport) => void
  /** Called when a session ends that nobody has asked to end. */
  readonly onExit: (ending: SessionEnd) => Promise<void>
}

export const createSessionControl = ({ view, onReport, onExit }: Options): SessionControl => {
  let session: Session | undefined
  /** The session whose end `shutDown` waits for. It handles the end; `onExit` does not. */
  let stoppingSession: Session | undefined
  let exitHandling = Promise.resolve()
  const agentPort = createAgentPort({
    name: () => view().name,
    isRunning: () => view().state === 'running',
    onReport,
  })
  const require = (): Session => {
    if (!session) throw new ServiceError('conflict', `${view().name} has stopped before that was done.`)
    return session
  }
  const watchExit = async (started: Session): Promise<void> => {
    const ending = await started.ended
    if (session === started && stoppingSession !== started) await (exitHandling = onExit(ending))
  }
  return {
    require,
    isCurrent: one => one === session,
    attach(started) {
      session = started
      agentPort.attach(started)
      void watchExit(started)
    },
    detach() {
      const current = session
      session = undefined
      return current
    },
    async shutDown(deadline) {
      const current = require()
      stoppingSession = current
      try {
        await requestShutdown(current, view(), agentPort.current())
        return await abortable(current.ended, deadline)
      } finally {
        stoppingSession = undefined
      }
    },
    settled: () => exitHandling,
    agentPort,
  }
}
