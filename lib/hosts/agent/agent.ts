import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import { messageOf } from '#lib/errors.ts'
import type { Events } from '#lib/events/events.ts'
import { type Heartbeat, heartbeatInterval, type HeartbeatReply } from '../heartbeat-schemas.ts'
import type { HostReport } from '../schemas.ts'
import { type EventSource, readEventBatch } from './event-batch.ts'
import { findMachineChanges, type KnownMachines } from './machine-changes.ts'

/** Sends a heartbeat to the control. Throws when the control does not accept it. */
export type SendHeartbeat = (heartbeat: Heartbeat, signal: AbortSignal) => Promise<HeartbeatReply>

interface Options {
  readonly send: SendHeartbeat
  readonly readReport: () => Promise<HostReport & Pick<Heartbeat, 'nonce' | 'connections'>>
  readonly listMachines: () => PreparedBody
  readonly events: EventSource & Pick<Events, 'onCommit'>
  /** Called when heartbeats begin to fail, with the reason, and with undefined when they succeed again. */
  readonly onProblem: (problem: string | undefined) => void
}

/** Milliseconds between an event and the heartbeat with it, so that events that come together are sent together. */
const eventDelay = 50
/** Milliseconds until the first retry. Each further one takes twice as long, up to the usual interval. */
const firstRetry = 1_000

/**
 * Reports this host to the control: every 15 seconds, and soon after each event. The control says what it has
 * stored, and the next heartbeat goes on from there. So nothing is lost or repeated, whichever of the two restarts.
 */
export const startAgent = ({ send, readReport, listMachines, events, onProblem }: Options): Disposable => {
  const closing = new AbortController()
  /** What the control has; undefined until it has answered once. */
  let acknowledged: HeartbeatReply | undefined
  let known: KnownMachines | undefined
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let isSending = false
  /** The head of the log at the last heartbeat. A commit without an event does not move it, and causes no heartbeat. */
  let sentHead = 0

  /** Sends one heartbeat. Returns true if there is more to send. */
  const sendHeartbeat = async (): Promise<boolean> => {
    const report = await readReport()
    sentHead = events.head().seq
    // The first heartbeat asks what the control has.
    const changes = acknowledged && findMachineChanges(listMachines(), known)
    const batch = acknowledged && readEventBatch(events, acknowledged.cursor)
    const isFirst = acknowledged === undefined
    acknowledged = await send(
      { ...report, ...(changes && { machines: changes.machines }), ...(batch && { events: batch.events }) },
      closing.signal,
    )
    if (changes && acknowledged.machines_tag === changes.known.tag) known = changes.known
    // The control does not have what this process has sent, so it gets all machines.
    else if (acknowledged.machines_tag !== known?.tag) known = undefined
    return isFirst || changes?.hasMore === true || batch?.hasMore === true || known === undefined
  }
  const schedule = (milliseconds: number): void => {
    if (closing.signal.aborted) return
    clearTimeout(timer)
    timer = setTimeout(() => void run(), milliseconds)
    timer.unref()
  }
  const run = async (): Promise<void> => {
    isSending = true
    try {
      const hasMore = await sendHeartbeat()
      if (failures > 0) onProblem(undefined)
      failures = 0
      schedule(
        hasMore || events.head().seq > sentHead ? eventDelay : (acknowledged?.interval ?? heartbeatInterval) * 1000,
      )
    } catch (error) {
      if (closing.signal.aborted) return
      if (failures === 0) onProblem(messageOf(error))
      failures += 1
      schedule(Math.min(firstRetry * 2 ** (failures - 1), heartbeatInterval * 1000))
    } finally {
      isSending = false
    }
  }
  const subscription = events.onCommit(() => {
    // While heartbeats fail, the retries have their own pace.
    if (!isSending && failures === 0 && events.head().seq > sentHead) {
      sentHead = events.head().seq
      schedule(eventDelay)
    }
  })
  schedule(0)

  return {
    [Symbol.dispose]() {
      closing.abort()
      clearTimeout(timer)
      subscription[Symbol.dispose]()
    },
  }
}
