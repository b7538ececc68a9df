import type { Passwords } from '#lib/auth/passwords.ts'
import type { Events } from '#lib/events/events.ts'
import type { Jobs } from '#lib/jobs/jobs.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { Metrics } from '#lib/metrics/metrics.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Cache } from '#lib/transfers/cache/cache.ts'
import type { Services } from './services.ts'

interface Measured {
  readonly machines: Pick<Machines, 'countByState'>
  readonly jobs: Pick<Jobs, 'runningCount'>
  readonly cache: Pick<Cache, 'size' | 'counters'>
  readonly events: Pick<Events, 'head'>
  readonly subscriptions: Pick<Services['subscriptions'], 'stats'>
  readonly passwords: Pick<Passwords, 'pending'>
  readonly store: Pick<Store, 'failure' | 'onCommit'>
}

/** Adds the gauges of the service to its metrics. Disposing of the result ends the count of commits. */
export const addGauges = (
  metrics: Pick<Metrics, 'addGauges'>,
  { machines, jobs, cache, events, subscriptions, passwords, store }: Measured,
): Disposable => {
  let commits = 0
  const commitCounter = store.onCommit(() => void (commits += 1))
  metrics.addGauges({
    machines: ['Machines by state', machines.countByState],
    jobs_under_way: ['Running jobs', jobs.runningCount],
    cache_bytes: ['Size of the catalog cache in bytes', cache.size],
    cache_hits: ['Pulls of machines that were in the cache', () => cache.counters.hits],
    cache_misses: ['Pulls of machines that were not in the cache', () => cache.counters.misses],
    cache_evictions: ['Machines that the cache evicted', () => cache.counters.evictions],
    events_total: ['Events since the first start', () => events.head().seq],
    event_subscribers: ['Open WebSockets that read events', () => subscriptions.stats().total_clients],
    event_messages_sent: ['Events sent to WebSockets', () => subscriptions.stats().messages_sent],
    passwords_waiting: ['Passwords that wait for their hash', passwords.pending],
    store_commits: ['Commits since the start', () => commits],
    store_writable: ['1 if the store accepts changes, else 0', () => Number(store.failure === undefined)],
    resident_memory_bytes: ['Resident memory of the service in bytes', () => process.memoryUsage.rss()],
    uptime_seconds: ['Seconds since the start', () => Math.round(process.uptime())],
  })
  return commitCounter
}
