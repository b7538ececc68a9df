import type { Gauge, Registry } from 'prom-client'
import type { CardUsage, MachineUsage } from '#lib/hypervisor/driver.ts'

type Machine = { readonly id: string; readonly name: string } & MachineUsage

/** A value of a machine, with labels beside those of the machine. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

const sampleCards = (networks: readonly CardUsage[], member: 'bytesReceived' | 'bytesSent'): readonly Sample[] =>
  networks.map(usage => ({ labels: { card: usage.card, counted_by: usage.countedBy }, value: usage[member] }))

/** The series of each machine: name, help, type, and the measured values. */
const series: readonly (readonly [string, string, 'counter' | 'gauge', (usage: MachineUsage) => readonly Sample[]])[] =
  [
    [
      'cpu_seconds_total',
      'CPU time of the process of a machine',
      'counter',
      ({ cpuSeconds }) => [{ value: cpuSeconds }],
    ],
    ['memory_bytes', 'Resident memory of the process of a machine', 'gauge', ({ memory }) => [{ value: memory }]],
    [
      'disk_read_bytes_total',
      'Bytes that a machine has read from its disks',
      'counter',
      ({ diskBytesRead }) => [{ value: diskBytesRead }],
    ],
    [
      'disk_written_bytes_total',
      'Bytes that a machine has written to its disks',
      'counter',
      ({ diskBytesWritten }) => [{ value: diskBytesWritten }],
    ],
    [
      'network_received_bytes_total',
      'Bytes that a machine has received over a network card',
      'counter',
      ({ networks }) => sampleCards(networks, 'bytesReceived'),
    ],
    [
      'network_sent_bytes_total',
      'Bytes that a machine has sent over a network card',
      'counter',
      ({ networks }) => sampleCards(networks, 'bytesSent'),
    ],
  ]

/** Adds series with the use of each running machine, which `measure` returns at each request for the metrics. */
export const addMachineSeries = (registry: Registry, measure: () => Promise<readonly Machine[]>): void => {
  for (const [suffix, help, type, sample] of series) {
    const name = `vmhost_machine_${suffix}`
    // As in replies.ts: the registry calls `get` alone, and counters of the library would remember machines that are gone.
    registry.registerMetric({
      name,
      get: async () => ({
        name,
        help,
        type,
        aggregator: 'sum',
        values: (await measure()).flatMap(machine =>
          sample(machine).map(({ labels, value }) => ({
            labels: { id: machine.id, name: machine.name, ...labels },
            value,
          })),
        ),
      }),
    } as unknown as Gauge)
  }
}
