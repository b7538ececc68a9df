import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { getSmallLinux } from '../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../support/guests/serial-shell.ts'
import { pause } from '../support/waiting.ts'
import { type Ask, askAs } from './ask.ts'
import { median } from './load.ts'
import { startVmhost } from './processes.ts'
import { differenceRow, limitRow, type Row, ratioRow } from './table.ts'

const password = 'Correct-Horse-9-Battery'
/** Forks that are measured without a waiting process. Each needs a boot of the source. */
const coldForks = 5
const warmForks = 20
/** Megabytes that guests use when their pause is measured. */
const sizes = [128, 512, 2048]

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** A small Linux with a disk, a card and an agent, of a service. */
interface Source {
  readonly home: string
  /** Milliseconds of its start, to its first prompt. */
  start(): Promise<number>
  stop(): Promise<unknown>
  /** Resolves when a process waits for its next fork. */
  waitForReady(): Promise<void>
  fork(): Promise<{ readonly id: string; readonly taken: number }>
  remove(id: string): Promise<unknown>
  run(command: string): Promise<string>
}

const createSource = async (ask: Ask, name: string, memory: number): Promise<Source> => {
  const { kernel, initrd, cmdline } = getSmallLinux()
  await ask('POST', '/machines', { name, memory, kernel, initrd, cmdline, disks: [{ size: 64 }] })
  const read = async () => (await ask<[{ Home: string; fork_ready?: boolean }]>('GET', `/machines/${name}`))[0]
  const { Home: home } = await read()
  return {
    home,
    async start() {
      rmSync(join(home, 'serial.log'), { force: true })
      return time(async () => {
        await ask('PUT', `/machines/${name}/start`)
        await waitForSerial({ home, name }, /GUEST:READY/)
        await ask('GET', `/machines/${name}/wait?for=agent&timeout=60`)
      })
    },
    stop: () => ask('PUT', `/machines/${name}/stop?force=true`),
    async waitForReady() {
      while (!(await read()).fork_ready) await pause(20)
      // What has begun with the last fork is done then.
      await pause(200)
    },
    async fork() {
      let id = ''
      const taken = await time(async () => {
        const { forks } = await ask<{ forks: [{ id: string }] }>('POST', `/machines/${name}/fork`, {})
        ;({ id } = forks[0])
      })
      return { id, taken }
    },
    remove: id => ask('DELETE', `/machines/${id}?force=true`),
    run: async command => (await runOnSerialLine({ home, name } as MachineView, command)).output,
  }
}

/** Milliseconds that a copy of so many megabytes from one buffer to another takes. */
const copyInMemory = (megabytes: number): number => {
  const [from, to] = [Buffer.alloc(megabytes << 20, 1), Buffer.alloc(megabytes << 20, 2)]
  const begun = performance.now()
  from.copy(to)
  return performance.now() - begun
}

/** Kilobytes of memory that are in use for a process: of pages that are shared, its part. */
const readPss = (home: string): number => {
  const pid = readFileSync(join(home, 'qemu.pid'), 'utf8')
  return Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1])
}

/** The longest time in which a guest that prints all the time prints nothing, while `work` runs. */
const measureSilence = async (log: string, work: () => Promise<unknown>): Promise<number> => {
  let [longest, size, changed, isDone] = [0, statSync(log).size, performance.now(), false]
  const working = work().finally(() => (isDone = true))
  while (!isDone) {
    await new Promise(resolve => setTimeout(resolve, 1))
    const [now, found] = [performance.now(), statSync(log).size]
    if (found === size) continue
    longest = Math.max(longest, now - changed)
    ;[size, changed] = [found, now]
  }
  await working
  return longest
}

const measureForks = async (ask: Ask): Promise<readonly Row[]> => {
  const source = await createSource(ask, 'source', 128)
  const [starts, cold, warm]: [number[], number[], number[]] = [[], [], []]
  for (let at = 0; at < coldForks; at += 1) {
    if (at > 0) await source.stop()
    starts.push(await source.start())
    const { id, taken } = await source.fork()
    cold.push(taken)
    await source.remove(id)
  }
  const ids: string[] = []
  for (let at = 0; at < warmForks; at += 1) {
    await source.waitForReady()
    const { id, taken } = await source.fork()
    warm.push(taken)
    ids.push(id)
  }
  const shared = await Promise.all(
    ids.map(async id => (await ask<[{ Home: string }]>('GET', `/machines/${id}`))[0].Home),
  )
  const pss = { measured: median(shared.map(readPss)) / 1024, floor: readPss(source.home) / 1024 }
  for (const id of ids) await source.remove(id)
  await source.stop()
  const third = Math.floor(warmForks / 3)
  const trend = { measured: median(warm.slice(-third)), floor: median(warm.slice(0, third)), unit: 'ms' }
  return [
    limitRow(
      'a fork without a waiting process; as floor, a boot',
      { measured: median(cold), floor: median(starts), unit: 'ms' },
      300,
    ),
    limitRow(
      'a fork with one; as floor, a copy of 128 MB',
      { measured: median(warm), floor: copyInMemory(128), unit: 'ms' },
      50,
    ),
    ratioRow(`the last of ${warmForks} forks; as floor, the first`, trend, { most: 1.5 }),
    ratioRow('Pss of a fork; as floor, of its source', { ...pss, unit: 'MB' }, { most: 1 }),
  ]
}

/** How long a guest that uses so much memory stands still while it forks. */
const measurePause = async (ask: Ask, megabytes: number): Promise<Row> => {
  const source = await createSource(ask, `pause-${megabytes}`, megabytes + 128)
  await source.start()
  await source.run(`dd if=/dev/zero of=/fill bs=1M count=${megabytes - 64} 2>/dev/null`)
  await source.run('(while :; do echo .; usleep 1000; done) & sleep 0')
  const log = join(source.home, 'serial.log')
  const [silences, floors]: [number[], number[]] = [[], []]
  for (let at = 0; at < 5; at += 1) {
    if (at > 0) await source.waitForReady()
    let id = ''
    silences.push(await measureSilence(log, async () => ({ id } = await source.fork())))
    await source.remove(id)
    floors.push(await measureSilence(log, () => pause(200)))
  }
  await source.stop()
  const figures = { measured: median(silences), floor: median(floors), unit: 'ms' }
  return differenceRow(`the pause of a guest that uses ${megabytes} MB`, figures, 50 + megabytes / 2)
}

/** What forks of a small Linux cost. */
export const forkRows = async (): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  const server = await startVmhost(folder, {
    VMHOST_ROOT_PASSWORD: password,
    VMHOST_DRIVER: 'qemu',
    VMHOST_ALLOWED_FOLDERS: dirname(getSmallLinux().kernel),
  })
  const ask = await askAs(server, password)
  try {
    const rows = [...(await measureForks(ask))]
    for (const size of sizes) rows.push(await measurePause(ask, size))
    return rows
  } finally {
    for (const { ID } of await ask<readonly { ID: string }[]>('GET', '/machines'))
      await ask('DELETE', `/machines/${ID}?force=true`)
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}
