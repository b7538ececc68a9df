import type { NewEvent } from '#lib/events/event.ts'
import { publishStatistics } from '#lib/metrics/statistics.ts'
import { onLogLine } from '#lib/platform/log.ts'

/** Broadcasts metrics and log lines as they come, until disposed. */
export const publishLiveEvents = (broadcast: (event: NewEvent) => void): Disposable => {
  const stack = new DisposableStack()
  stack.use(publishStatistics(broadcast))
  // Only super users receive log lines, because the log contains data of all users.
  stack.use(onLogLine(line => broadcast({ type: 'system_logs', message: 'System Log', body: line, audience: {} })))
  return stack
}
