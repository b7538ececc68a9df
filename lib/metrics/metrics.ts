import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { DriverCall } from '#lib/hypervisor/metered.ts'
import type { Observation } from '#lib/http/observation.ts'
import { Stream } from '#lib/http/stream.ts'

/** What is counted of the service, for those who watch it (Prometheus text format). */
export interface Metrics {
  /** Counts a reply. */
  count(what: Pick<Observation, 'operation' | 'status' | 'milliseconds'>): void
  /** Counts a call of the hypervisor. */
  countCall(what: DriverCall): void
  /** Counts a job that has ended. */
  countJob(what: { readonly operation: string; readonly outcome: string }): void
  /** Shows what these read, from now on. */
  watch(gauges: Gauges): void
  show(): Promise<Stream>
}

/** Values that are looked up when somebody asks, by the name of their gauge: what they are, and how to read them. */
export type Gauges = Readonly<
  Record<string, readonly [help: string, read: () => number | Readonly<Record<string, number>>]>
>

const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]
const longSeconds = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800]

export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const replies = new Counter({
    name: 'vmhost_http_replies_total',
    help: 'Replies by operation and status',
    labelNames: ['operation', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'vmhost_http_duration_seconds',
    help: 'Time from a request to its reply',
    labelNames: ['operation'],
    buckets: seconds,
    registers,
  })
  const calls = new Histogram({
    name: 'vmhost_hypervisor_call_seconds',
    help: 'Time that calls of the hypervisor took',
    labelNames: ['call', 'outcome'],
    buckets: longSeconds,
    registers,
  })
  const jobs = new Counter({
    name: 'vmhost_jobs_ended_total',
    help: 'Jobs that ended, by what they did and how',
    labelNames: ['operation', 'outcome'],
    registers,
  })
  // Looked up once per operation and status: by labels it costs more than all else of a small reply.
  const known = new Map<string, { readonly count: () => void; readonly time: (seconds: number) => void }>()
  const childOf = (operation: string, status: number) => {
    const key = `${operation} ${status}`
    const child = known.get(key)
    if (child) return child
    const [counter, histogram] = [replies.labels(operation, String(status)), durations.labels(operation)]
    const made = { count: () => counter.inc(), time: (value: number) => histogram.observe(value) }
    known.set(key, made)
    return made
  }

  return {
    count({ operation = 'none', status, milliseconds }) {
      const child = childOf(operation, status)
      child.count()
      child.time(milliseconds / 1000)
    },
    watch(gauges) {
      for (const [name, [help, read]] of Object.entries(gauges)) {
        const value = read()
        const labelNames = typeof value === 'number' ? [] : ['kind']
        const gauge: Gauge = new Gauge({
          name: `vmhost_${name}`,
          help,
          labelNames,
          registers,
          collect() {
            const now = read()
            if (typeof now === 'number') return gauge.set(now)
            gauge.reset()
            for (const [kind, count] of Object.entries(now)) gauge.set({ kind }, count)
          },
        })
      }
    },
    countCall: ({ call, outcome, milliseconds }) => calls.observe({ call, outcome }, milliseconds / 1000),
    countJob: what => jobs.inc(what),
    show: async () => new Stream(registry.contentType, await registry.metrics()),
  }
}
