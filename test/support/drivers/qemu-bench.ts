import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { HypervisorDriver, MachineView, DriverEvent, Verb } from '#lib/hypervisor/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { buildBootSectorDisk } from '../guests/boot-sector.ts'
import { createQemu } from './qemu.ts'
import { readSerialLog } from '../guests/serial.ts'
import { until } from '../waiting.ts'

interface Options {
  /** Contains the machines. Default: a temporary folder. */
  readonly folder?: string
  /** Started in place of QEMU. */
  readonly program?: string
  /** Whether nat cards lead to the loopback of the host. */
  readonly reachesLoopback?: boolean
}

/** A QEMU driver with helpers for tests. Disposing stops its machines and deletes its folder. */
export interface QemuBench extends AsyncDisposable {
  readonly folder: string
  readonly driver: HypervisorDriver
  readonly events: readonly DriverEvent[]
  /** Closes the driver, as at the end of the service. */
  close(): Promise<void>
  /** Opens a new driver, as at the next start of the service. */
  open(): Promise<void>
  run(id: string, verb: Verb, how?: { force?: boolean; deadline?: AbortSignal }): Promise<MachineView>
  get(id: string): Promise<MachineView>
  /** Creates a machine that boots the counting guest from its disk. */
  create(name: string, memory?: number): Promise<MachineView>
  /** Waits for the guest's next tick and returns its number. */
  nextTick(id: string): Promise<number>
  pid(id: string): Promise<number>
  /** Returns the names of saved memory files in the machine's folder. */
  listSavedMemory(id: string): Promise<readonly string[]>
  /** Waits until the view of a machine matches `expected`. */
  waitForView(id: string, expected: object): Promise<void>
}

export const openQemuBench = async ({
  folder: given,
  program,
  reachesLoopback = false,
}: Options = {}): Promise<QemuBench> => {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'vmhost-qemu-'))
  const found = (await findQemu())!
  const programs = { ...found, ...(program !== undefined && { system: program }) }
  let driver: HypervisorDriver
  let events: DriverEvent[] = []
  const open = async (): Promise<void> => {
    driver = await createQemu(join(folder, 'machines'), { programs, reachesLoopback })
    events = []
    await driver.open(event => void events.push(event))
  }
  const get: QemuBench['get'] = async id => (await driver.get(id))!
  const run: QemuBench['run'] = (id, verb, { force = false, deadline = AbortSignal.timeout(30_000) } = {}) =>
    driver.run(id, verb, { force, deadline })
  const readTicks = async (id: string): Promise<number[]> =>
    [...(await readSerialLog(await get(id))).matchAll(/^T ([0-9A-F]{8})/gim)].map(match =>
      Number.parseInt(match[1]!, 16),
    )
  await open()
  return {
    folder,
    get driver() {
      return driver
    },
    get events() {
      return events
    },
    open,
    close: () => driver.close(),
    run,
    get,
    async create(name, memory = 16) {
      const path = join(folder, `${name}.img`)
      buildBootSectorDisk(path)
      return driver.create({ name, description: '', cpus: 1, memory, disks: [{ path }] })
    },
    async nextTick(id) {
      const before = (await readTicks(id)).length
      return until(async () => {
        const ticks = await readTicks(id)
        expect(ticks.length).toBeGreaterThan(before)
        return ticks.at(-1)!
      })
    },
    pid: async id => Number(readFileSync(join((await get(id)).home, 'qemu.pid'), 'utf8')),
    listSavedMemory: async id => readdirSync((await get(id)).home).filter(name => name.startsWith('state.mem')),
    waitForView: (id, expected) => until(async () => expect(await get(id)).toMatchObject(expected)),
    async [Symbol.asyncDispose]() {
      for (const { id, home } of await driver.list()) {
        await run(id, 'stop', { force: true }).catch(() => {})
        if (existsSync(home)) await driver.remove(id)
      }
      await driver.close()
      if (given === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}
