// The index of the library imports what only Node has; these modules need nothing.
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'
import type { MachineUsage } from '#lib/hypervisor/driver.ts'
import type { DriverCall } from '#lib/hypervisor/metered.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { addMachineSeries } from './machines.ts'
import { createReplyCounter } from './replies.ts'

/** The metrics of the service, in the Prometheus text format. */
export interface Metrics {
  /** Counts a reply. */
  countReply(operation: string | undefined, reply: Pick<Outcome, 'status' | 'milliseconds'>): void
  /** Counts a call of the hypervisor driver. */
  countCall(call: DriverCall): void
  /** Counts a job that has ended. */
  countJob(job: { readonly operation: string; readonly outcome: string }): void
  /** Adds gauges, which are read on each request for the metrics. */
  addGauges(gauges: Gauges): void
  /** Adds series with the use of each running machine, which are measured on each request for the metrics. */
  addMachines(measure: () => Promise<readonly ({ readonly id: string; readonly name: string } & MachineUsage)[]>): void
  render(): Promise<StreamReply>
}

/** The help text of each gauge by its name, and a function that reads its value. */
export type Gauges = Readonly<
  Record<string, readonly [help: string, read: () => number | Readonly<Record<string, number>>]>
>

const bucketBounds = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800]

export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const countByOperation = createReplyCounter(registry)
  const calls = new Histogram({
    name: 'vmhost_hypervisor_call_seconds',
    help: 'Time that calls of the hypervisor took',
    labelNames: ['call', 'outcome'],
    buckets: bucketBounds,
    registers,
  })
  const jobs = new Counter({
    name: 'vmhost_jobs_ended_total',
    help: 'Jobs that ended, by operation and outcome',
    labelNames: ['operation', 'outcome'],
    registers,
  })
  return {
    countReply: (operation = 'none', reply) => countByOperation(operation, reply),
    addGauges(gauges) {
      for (const [name, [help, read]] of Object.entries(gauges)) {
        const first = read()
        const labelNames = typeof first === 'number' ? [] : ['kind']
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
    addMachines: measure => addMachineSeries(registry, measure),
    countCall: ({ call, outcome, milliseconds }) => calls.observe({ call, outcome }, milliseconds / 1000),
    countJob: job => jobs.inc(job),
    render: async () => new StreamReply(registry.contentType, await registry.metrics()),
  }
}
