import type { NewEvent } from '#lib/events/event.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { publishMachineUsage, publishStatistics } from '#lib/metrics/statistics.ts'
import { onLogLine } from '#lib/platform/log.ts'

/** Broadcasts metrics and log lines as they come, until disposed. */
export const publishLiveEvents = (
  broadcast: (event: NewEvent) => void,
  machines: Pick<Machines, 'measure'>,
  countReaders: () => number,
): Disposable => {
  const stack = new DisposableStack()
  stack.use(publishMachineUsage(broadcast, machines.measure, countReaders))
  stack.use(publishStatistics(broadcast))
  // Only super users receive log lines, because the log contains data of all users.
  stack.use(onLogLine(line => broadcast({ type: 'system_logs', message: 'System Log', body: line, audience: {} })))
  return stack
}
