import type { Passwords } from '#lib/auth/passwords.ts'
import type { Events } from '#lib/events/events.ts'
import type { Jobs } from '#lib/jobs/jobs.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { Metrics } from '#lib/metrics/metrics.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Cache } from '#lib/transfers/cache/cache.ts'
import type { Services } from './services.ts'

interface Measured {
  readonly jobs: Pick<Jobs, 'runningCount'>
  readonly events: Pick<Events, 'head'>
  readonly subscriptions: Pick<Services['subscriptions'], 'stats'>
  readonly passwords: Pick<Passwords, 'pending'>
  readonly store: Pick<Store, 'failure' | 'onCommit'>
}

interface MeasuredOnHost {
  readonly machines: Pick<Machines, 'countByState' | 'measure'>
  readonly cache: Pick<Cache, 'size' | 'counters'>
}

/** Adds the gauges that every program with a store has. Disposing of the result ends the count of commits. */
export const addGauges = (
  metrics: Pick<Metrics, 'addGauges'>,
  { jobs, events, subscriptions, passwords, store }: Measured,
): Disposable => {
  let commits = 0
  const commitCounter = store.onCommit(() => void (commits += 1))
  metrics.addGauges({
    jobs_under_way: ['Running jobs', jobs.runningCount],
    events_total: ['Events since the first start', () => events.head().seq],
    event_subscribers: ['Open WebSockets that read events', () => subscriptions.stats().total_clients],
    event_messages_sent: ['Events sent to WebSockets', () => subscriptions.stats().messages_sent],
    passwords_waiting: ['Passwords that wait for their hash', passwords.pending],
    store_commits: ['Commits since the start', () => commits],
    store_writable: ['1 if the store accepts changes, else 0', () => Number(store.failure === undefined)],
  })
  return commitCounter
}

/** Adds the gauges of a program that runs machines, and those of its process. */
export const addHostGauges = (
  metrics: Pick<Metrics, 'addGauges' | 'addMachines'>,
  { machines, cache }: MeasuredOnHost,
): void => {
  metrics.addMachines(machines.measure)
  metrics.addGauges({
    machines: ['Machines by state', machines.countByState],
    cache_bytes: ['Size of the catalog cache in bytes', cache.size],
    cache_hits: ['Pulls of machines that were in the cache', () => cache.counters.hits],
    cache_misses: ['Pulls of machines that were not in the cache', () => cache.counters.misses],
    cache_evictions: ['Machines that the cache evicted', () => cache.counters.evictions],
    resident_memory_bytes: ['Resident memory of the service in bytes', () => process.memoryUsage.rss()],
    uptime_seconds: ['Seconds since the start', () => Math.round(process.uptime())],
  })
}
