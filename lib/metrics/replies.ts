import type { Histogram, Registry } from 'prom-client'
import Counter from 'prom-client/lib/counter.js'

/** The upper bounds of the buckets, in seconds. */
const bucketBounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

/** The replies of one operation. */
interface ReplyCounts {
  /** The number of replies by status. */
  readonly statuses: Map<number, number>
  /** The number of replies in each bucket, not cumulative. The last bucket has those above all bounds. */
  readonly buckets: number[]
  seconds: number
}

const durationName = 'vmhost_http_duration_seconds'

/** The samples of an operation's histogram. Their buckets are cumulative. */
const toSamples = (name: string, { buckets, seconds }: ReplyCounts) => {
  let count = 0
  const cumulative = [...bucketBounds, '+Inf'].map((le, index) => {
    count += buckets[index] ?? 0
    return { metricName: `${durationName}_bucket`, labels: { le, operation: name }, value: count }
  })
  return [
    ...cumulative,
    { metricName: `${durationName}_sum`, labels: { operation: name }, value: seconds },
    { metricName: `${durationName}_count`, labels: { operation: name }, value: count },
  ]
}

/**
 * Counts replies and their durations. This runs on every request, so it is plain arithmetic: the library's own counters would
 * cost more than the rest of a small reply. The samples are built when the metrics are requested.
 */
export const createReplyCounter = (
  registry: Registry,
): ((operation: string, reply: { readonly status: number; readonly milliseconds: number }) => void) => {
  const operations = new Map<string, ReplyCounts>()
  // oxlint-disable-next-line no-new -- the registry owns it
  new Counter({
    name: 'vmhost_http_replies_total',
    help: 'Replies by operation and status',
    labelNames: ['operation', 'status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [operation, { statuses }] of operations)
        for (const [status, count] of statuses) this.inc({ operation, status }, count)
    },
  })
  // The registry calls only `get`; a histogram of the library would cost too much (see above).
  registry.registerMetric({
    name: durationName,
    get: async () => ({
      name: durationName,
      help: 'Time from a request to its reply',
      type: 'histogram',
      aggregator: 'sum',
      values: [...operations].flatMap(([name, operation]) => toSamples(name, operation)),
    }),
    // The registry calls `get` alone, which the class of prom-client does not say.
  } as unknown as Histogram)

  return (operation, { status, milliseconds }) => {
    let counts = operations.get(operation)
    if (!counts) {
      counts = { statuses: new Map(), buckets: Array.from({ length: bucketBounds.length + 1 }, () => 0), seconds: 0 }
      operations.set(operation, counts)
    }
    const seconds = milliseconds / 1000
    const within = bucketBounds.findIndex(bound => seconds <= bound)
    const bucket = within < 0 ? bucketBounds.length : within
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1
    counts.seconds += seconds
  }
}
