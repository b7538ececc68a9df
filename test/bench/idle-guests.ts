import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Ask, askAs, signedIn } from './ask.ts'
import { waitForText } from './bare-qemu.ts'
import { load, median } from './load.ts'
import { processorTime, residentMemory, type Server, startBare, startVmhost } from './processes.ts'
import { limitRow, ratioRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const machines = 100
/** Machines that start at the same time. */
const concurrency = 4
/** Milliseconds for which the service caches what machines have used. */
const cacheTime = 10_000
const rounds = 5

/** Creates machines with the demo guest, which does nothing but tick, and starts them. Returns the pids of their QEMUs. */
const startMachines = async (ask: Ask, kernel: string): Promise<readonly number[]> => {
  const pids: number[] = []
  const names = Array.from({ length: machines }, (_, at) => `machine-${at}`).values()
  const work = async (): Promise<void> => {
    for (const name of names) {
      await ask('POST', '/machines', { name, memory: 16, disks: [{ size: 1 }], kernel })
      await ask('PUT', `/machines/${name}/start`)
      const [{ Home: home }] = await ask<[{ Home: string }]>('GET', `/machines/${name}`)
      await waitForText(join(home, 'serial.log'), 'T 00000001')
      pids.push(Number(readFileSync(join(home, 'qemu.pid'), 'utf8')))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return pids
}

/** Milliseconds of processor time that the service uses in the time of a cache, during which `work` is done once. */
const measureWork = async ({ pid }: Server, work: () => Promise<unknown>): Promise<number> => {
  const taken: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = processorTime(pid)
    await Promise.all([work(), wait(cacheTime + 100)])
    taken.push((processorTime(pid) - before) / 1_000)
  }
  return median(taken)
}

/** A hundred running guests: what they cost the service, and what each of them costs its host. */
export const idleGuestRows = async (): Promise<readonly Row[]> => {
  const state = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  const [bare, server] = await Promise.all([
    startBare(),
    // The demo machine brings its kernel.
    startVmhost(state, { VMHOST_ROOT_PASSWORD: password, VMHOST_DRIVER: 'qemu', VMHOST_DEMO: 'on' }),
  ])
  const ask = await askAs(server, password)
  try {
    const headers = await signedIn(server, password)
    const get = async (path: string): Promise<number> =>
      (await (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })).arrayBuffer()).byteLength
    await get('/api/v1/machines')
    const memoryBefore = residentMemory(server.pid)
    const pids = await startMachines(ask, join(state, 'attach', 'demo-kernel.bin'))
    const memory = (residentMemory(server.pid) - memoryBefore) / machines
    const idle = await measureWork(server, async () => {})
    const measuring = await measureWork(server, () => get('/metrics'))

    const bytes = await get('/api/v1/machines')
    const list = await load(server, { path: '/api/v1/machines', headers }, 3_000)
    const floor = await load(bare, { path: `/bytes/${bytes}`, headers }, 3_000)
    return [
      ratioRow(
        `list of ${machines} running machines, ${Math.round(bytes / 1024)} KB`,
        { measured: list.microseconds, floor: floor.microseconds, unit: 'µs CPU' },
        { most: 1.15 },
      ),
      limitRow(
        'memory of the service for each running machine, beside its QEMU',
        { measured: memory, floor: median(pids.map(residentMemory)), unit: 'MB', digits: 2 },
        1,
      ),
      limitRow(
        `/metrics with ${machines} running machines, beside ten idle seconds`,
        { measured: measuring - idle, floor: idle, unit: 'ms CPU', digits: 0 },
        100,
      ),
    ]
  } finally {
    const all = await ask<readonly { readonly ID: string }[]>('GET', '/machines')
    for (const { ID: id } of all) await ask('DELETE', `/machines/${id}?force=true`)
    await Promise.all([bare.stop(), server.stop()])
    rmSync(state, { recursive: true })
  }
}
