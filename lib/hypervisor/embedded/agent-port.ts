import { ServiceError } from '#lib/errors.ts'
import { type Agent, connectAgent } from '../agent/agent.ts'
import { setGuestTime } from '../agent/set-guest-time.ts'
import { type GuestReport, watchGuest } from '../agent/watch-guest.ts'
import { createAgentLine } from './agent-line.ts'
import type { Session } from './worker-session.ts'

/** The port of a machine to its guest agent: the second serial line, which machines with a Linux kernel have. */
export interface AgentPort {
  /** Uses the line of a session until that ends. */
  attach(session: Session): void
  /** Sets the clock of the guest, if its agent is there. */
  setTime(): void
  /** Returns the agent, if there is one. */
  current(): Agent | undefined
  /** Returns the agent. Throws `conflict` with what is missing. */
  require(): Agent
}

interface Options {
  readonly name: () => string
  readonly isRunning: () => boolean
  /** Called with what the agent tells about the guest, each time that it has changed. */
  readonly onReport: (report: GuestReport) => void
}

export const createAgentPort = ({ name, isRunning, onReport }: Options): AgentPort => {
  let session: Session | undefined
  let agent: Agent | undefined
  /** True while a program of the guest has the line open. */
  let isOpen = false
  const current = (): Agent | undefined => (isOpen ? agent : undefined)

  /** Makes the agent of a session. It serves however often the guest opens the line. */
  const connect = (attached: Session): Agent => {
    const line = createAgentLine(bytes => attached.sendInput('agent', bytes))
    attached.onAgentOutput(line.receive)
    const connected = connectAgent(line.stream)
    watchGuest(connected, {
      isRunning: () => isOpen && isRunning(),
      onReport: report => {
        if (agent === connected) onReport(report)
      },
    })
    return connected
  }
  return {
    attach(attached) {
      session = attached
      attached.onAgentLine(open => {
        if (session !== attached) return
        isOpen = open
        if (open) agent ??= connect(attached)
      })
      void attached.ended.then(() => {
        if (session !== attached) return
        agent?.close()
        session = agent = undefined
        isOpen = false
      })
    },
    setTime() {
      // Without it the clock of the guest stays as it is; its own time service sets it later.
      const connected = current()
      if (connected) void setGuestTime(connected).catch(() => {})
    },
    current,
    require() {
      const connected = current()
      if (connected) return connected
      throw new ServiceError(
        'conflict',
        session && !session.hasAgentLine
          ? `${name()} has no port for a guest agent: embedded machines with a multiboot kernel have none.`
          : `No guest agent answers in ${name()}: start qemu-ga in the guest with -m isa-serial -p /dev/ttyS1, or wait until the guest has started it.`,
      )
    },
  }
}
