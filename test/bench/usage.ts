import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connectAgent } from '#lib/hypervisor/agent/agent.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { createStoppedView } from '#lib/hypervisor/machine-views.ts'
import { measureQemu } from '#lib/hypervisor/qemu/hardware/measure.ts'
import { connectQmp } from '#lib/hypervisor/qemu/qmp.ts'
import { createUsageMeter } from '#lib/machines/usage.ts'
import { median } from './load.ts'
import { limitRow, type Row } from './table.ts'

const machines = 1_000
const rounds = 7
/** Milliseconds of processor time that one measurement may take. The service measures once in ten seconds at most. */
const budget = 800

const createView = (at: number): MachineView => {
  const id = crypto.randomUUID()
  const definition = {
    ...{ id, name: `machine-${at}`, description: '', cpus: 1, memory: 16, disks: [], created_at: '' },
    networks: [{ mac: '52:54:00:00:00:01', mode: 'isolated' as const }],
  }
  return { ...createStoppedView(definition, '/nowhere'), state: 'running' }
}

/** Returns the milliseconds of processor time that this process needs for some work. */
const takeTime = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** What it costs to measure many machines, each with a guest agent that counts the bytes of its network card. */
export const usageRow = async (): Promise<Row> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-usage-'))
  const [control, agent] = [join(folder, 'control'), join(folder, 'agent')]
  const guests = spawn(process.execPath, [resolve('test/bench/simulated-guests.ts'), control, agent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(guests.stdout, 'data')
    const views = Array.from({ length: machines }, (_, at) => createView(at))
    const running = new Map<string, () => ReturnType<typeof measureQemu>>()
    for (const view of views) {
      const qmp = await connectQmp(control, () => {})
      const connection = connectAgent(connect(agent))
      running.set(view.id, () => measureQemu({ pid: guests.pid!, qmp }, view, connection))
    }
    const measureAll = async (): Promise<void> => {
      const measure = createUsageMeter({ measure: async id => running.get(id)!() }, { listViews: () => views })
      const measured = await measure()
      if (measured.some(({ networks }) => networks.length !== 1) || measured.length !== machines)
        throw new Error('not all machines were measured')
    }
    const readAll = async (): Promise<void> => {
      for (const _ of views)
        await Promise.all(['stat', 'status'].map(file => readFile(`/proc/${guests.pid}/${file}`, 'latin1')))
    }
    const taken = { measured: [] as number[], floor: [] as number[] }
    for (let round = -2; round < rounds; round += 1) {
      const [measured, floor] = [await takeTime(measureAll), await takeTime(readAll)]
      if (round < 0) continue
      taken.measured.push(measured)
      taken.floor.push(floor)
    }
    return limitRow(
      `use of ${machines} machines with agents, measured once; floor: only the files of /proc`,
      { measured: median(taken.measured), floor: median(taken.floor), unit: 'ms CPU', digits: 0 },
      budget,
    )
  } finally {
    guests.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}
