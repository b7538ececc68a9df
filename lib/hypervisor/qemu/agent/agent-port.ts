import { connect, type Socket } from 'node:net'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { connectIn } from '#lib/platform/local-socket.ts'
import type { Logger } from '#lib/platform/log.ts'
import { type Agent, connectAgent } from '../../agent/agent.ts'
import { setGuestTime } from '../../agent/set-guest-time.ts'
import { type GuestReport, watchGuest } from '../../agent/watch-guest.ts'
import { fileNames } from '../file-names.ts'
import type { Qmp, QmpEvent } from '../qmp.ts'
import { createThrottle } from '../throttle.ts'

/** The port of a machine to its guest agent. The service is connected to it for as long as the guest has it open. */
export interface AgentPort {
  /** Finds out whether the guest has opened the port of this QEMU. Disconnects when the connection to QEMU ends. */
  attach(qmp: Qmp): Promise<void>
  onEvent(event: QmpEvent): void
  /** Sets the clock of the guest, now or when its agent is connected. */
  setTime(): void
  /** Returns the agent, if there is one. */
  current(): Agent | undefined
  /** Returns the agent. Throws `conflict` with what is missing. */
  require(): Agent
}

interface Options {
  readonly id: string
  readonly home: string
  readonly name: () => string
  readonly isRunning: () => boolean
  /** Called with what the agent tells about the guest, each time that it has changed. */
  readonly onReport: (report: GuestReport) => void
  readonly log: Logger
}

/** The id of the port and of its socket in QEMU. */
const portId = 'agent'
const Channels = z.array(z.object({ label: z.string(), 'frontend-open': z.boolean() }))
const PortChange = z.object({ id: z.string(), open: z.boolean() })
/** How many connections may follow at once, and the milliseconds for each further one: a guest can open its port at any rate. */
const connectPace = [5, 10_000] as const

const openSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

export const createAgentPort = ({ id, home, name, isRunning, onReport, log }: Options): AgentPort => {
  /** Undefined while no QEMU is connected. */
  let hasPort: boolean | undefined
  let isOpen = false
  let agent: Agent | undefined
  let connecting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let attached: Qmp | undefined
  let mustSetTime = false
  const reserveConnection = createThrottle(...connectPace)

  const setTimeIfDue = (): void => {
    if (!agent || !mustSetTime) return
    mustSetTime = false
    // The clock of the guest stays as it is; its own time service sets it later.
    void setGuestTime(agent).catch(() => {})
  }
  const connectNow = async (): Promise<void> => {
    try {
      const connected = connectAgent(await connectIn(home, fileNames.agentSocket, openSocket))
      if (!isOpen) return connected.close()
      agent = connected
      setTimeIfDue()
      void connected.closed.then(() => {
        if (agent === connected) agent = undefined
        scheduleConnection()
      })
      watchGuest(connected, {
        isRunning,
        onReport: report => {
          if (agent === connected) onReport(report)
        },
      })
    } catch (error) {
      log.warning('{id}: the socket of the guest agent cannot be used: {reason}', { id, reason: messageOf(error) })
    }
  }
  const startConnection = (): void => {
    timer = undefined
    if (!isOpen || agent || connecting) return
    connecting = connectNow().finally(() => (connecting = undefined))
  }
  const scheduleConnection = (): void => {
    if (isOpen && !timer) timer = setTimeout(startConnection, reserveConnection()).unref()
  }
  const setOpen = (open: boolean): void => {
    isOpen = open
    if (open) return scheduleConnection()
    clearTimeout(timer)
    timer = undefined
    agent?.close()
    agent = undefined
  }

  return {
    async attach(qmp) {
      attached = qmp
      void qmp.closed.then(() => {
        if (attached !== qmp) return
        hasPort = undefined
        setOpen(false)
      })
      try {
        const port = (await qmp.query('query-chardev', Channels)).find(({ label }) => label === portId)
        hasPort = port !== undefined
        setOpen(port?.['frontend-open'] === true)
      } catch (error) {
        // Whoever uses the control connection learns that it does not work.
        log.warning('{id}: the port of the guest agent is not known: {reason}', { id, reason: messageOf(error) })
      }
    },
    onEvent({ event, data }) {
      if (event !== 'VSERPORT_CHANGE') return
      const change = PortChange.safeParse(data).data
      if (change?.id === portId) setOpen(change.open)
    },
    setTime() {
      mustSetTime = true
      setTimeIfDue()
    },
    current: () => agent,
    require() {
      if (agent) return agent
      throw new ServiceError(
        'conflict',
        hasPort === false
          ? `${name()} has no port for a guest agent: machines of the type pc have none. Make a new machine with its disks.`
          : `No guest agent answers in ${name()}: install qemu-guest-agent in the guest and start it, or wait until the guest has started it.`,
      )
    },
  }
}
