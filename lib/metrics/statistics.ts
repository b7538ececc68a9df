import type { MachineUsage } from '#lib/hypervisor/driver.ts'
import type { NewEvent } from '#lib/events/event.ts'

const interval = 5_000

/** Sends the memory and CPU use of this process to the present subscribers every five seconds, until disposed. */
export const publishStatistics = (broadcast: (event: NewEvent) => void): Disposable => {
  let before = { at: performance.now(), used: 0 }
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage()
    const now = { at: performance.now(), used: user + system }
    const { rss, heapUsed } = process.memoryUsage()
    broadcast({
      type: 'stats',
      message: 'System Stats',
      body: {
        memory_bytes: rss,
        memory_alloc_bytes: heapUsed,
        cpu_user_seconds: user / 1e6,
        cpu_system_seconds: system / 1e6,
        // Microseconds of use in milliseconds of time.
        cpu_percent: Math.round((now.used - before.used) / (now.at - before.at)) / 10,
        goroutines: 0,
        goroutines_smoothed: 0,
      },
      audience: { claims: ['READ_ONLY'] },
    })
    before = now
  }, interval)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Milliseconds between two measurements of the machines. */
const machineInterval = 10_000

/** Sends what each running machine has used to the present subscribers every ten seconds, until disposed. */
export const publishMachineUsage = (
  broadcast: (event: NewEvent) => void,
  measure: () => Promise<readonly ({ readonly id: string } & MachineUsage)[]>,
  countReaders: () => number,
): Disposable => {
  const publish = async (): Promise<void> => {
    if (countReaders() === 0) return
    const machines = (await measure()).map(({ id, ...usage }) => ({
      vm_id: id,
      cpu_seconds: usage.cpuSeconds,
      memory_bytes: usage.memory,
      disk_read_bytes: usage.diskBytesRead,
      disk_written_bytes: usage.diskBytesWritten,
      networks: usage.networks.map(({ card, countedBy, bytesReceived, bytesSent }) => ({
        card,
        counted_by: countedBy,
        received_bytes: bytesReceived,
        sent_bytes: bytesSent,
      })),
    }))
    if (machines.length === 0) return
    broadcast({ type: 'stats', message: 'VM_STATS', body: { machines }, audience: { claims: ['LIST_VM'] } })
  }
  // A measurement fails for a machine alone, which it leaves out.
  const timer = setInterval(() => void publish().catch(() => {}), machineInterval)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
