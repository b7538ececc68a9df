import { expect, test } from 'vitest'
import type { MachineUsage } from '#lib/hypervisor/driver.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'

test('metrics have a series for each machine that is measured', async () => {
  const metrics = createMetrics()
  const machine: MachineUsage & { readonly id: string; readonly name: string } = {
    ...{ id: 'a', name: 'web "1"', cpuSeconds: 1.5, memory: 4096, diskBytesRead: 512, diskBytesWritten: 7 },
    networks: [{ card: 'net1', countedBy: 'host', bytesReceived: 30, bytesSent: 0 }],
  }
  let machines = [machine]
  metrics.addMachines(async () => machines)
  const { body } = await metrics.render()
  for (const [name, value] of [
    ['cpu_seconds_total', '1.5'],
    ['memory_bytes', '4096'],
    ['disk_read_bytes_total', '512'],
    ['disk_written_bytes_total', '7'],
  ])
    expect(body).toContain(`vmhost_machine_${name}{id="a",name="web \\"1\\""} ${value}\n`)
  for (const [name, value] of [
    ['received', '30'],
    ['sent', '0'],
  ])
    expect(body).toContain(
      `vmhost_machine_network_${name}_bytes_total{id="a",name="web \\"1\\"",card="net1",counted_by="host"} ${value}\n`,
    )
  machines = []
  expect((await metrics.render()).body).not.toContain('id="a"')
})

test('metrics count replies by operation and status, and read the gauges that were added', async () => {
  let states: Record<string, number> = { running: 2, stopped: 1 }
  const metrics = createMetrics()
  metrics.addGauges({ machines: ['Machines by state', () => states], queue: ['Waiting', () => 7] })
  metrics.countCall({ call: 'start', outcome: 'done', milliseconds: 300 })
  metrics.countJob({ operation: 'machines/start', outcome: 'failed' })
  for (const [status, milliseconds] of [
    [200, 2],
    [200, 20],
    [404, 1],
  ] as const)
    metrics.countReply('machines/show', { status, milliseconds })
  metrics.countReply(undefined, { status: 404, milliseconds: 1 })
  states = { running: 3 }
  const { type, body } = await metrics.render()
  expect(type).toContain('text/plain')
  for (const line of [
    'vmhost_http_replies_total{operation="machines/show",status="200"} 2',
    'vmhost_http_replies_total{operation="machines/show",status="404"} 1',
    'vmhost_http_replies_total{operation="none",status="404"} 1',
    'vmhost_http_duration_seconds_bucket{le="0.005",operation="machines/show"} 2',
    'vmhost_http_duration_seconds_count{operation="machines/show"} 3',
    'vmhost_machines{kind="running"} 3',
    'vmhost_queue 7',
    'vmhost_hypervisor_call_seconds_bucket{le="0.5",call="start",outcome="done"} 1',
    'vmhost_hypervisor_call_seconds_count{call="start",outcome="done"} 1',
    'vmhost_jobs_ended_total{operation="machines/start",outcome="failed"} 1',
  ])
    expect(body).toContain(`${line}\n`)
  expect(body).not.toContain('stopped')
})
