import { truncate } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView, StableState } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { MachineRecord } from '#lib/machines/record.ts'
import { host } from '../support/harness.ts'
import { refuseImage } from '../support/images.ts'
import { newEventLog } from '../support/events.ts'
import { withExport } from '../support/exports.ts'
import { newFolder } from '../support/folder.ts'
import { packedMachinesContract } from './packed-machines.ts'
import { pause, until } from '../support/waiting.ts'

/** What a driver under test provides to the contract suite. */
export interface Workbench {
  /** Creates a driver on the bench's folder, not yet opened. The previous one has been closed. */
  driver(): HypervisorDriver | Promise<HypervisorDriver>
  /** A machine whose guest counts its boots on its disk and ticks in memory. */
  machine(name: string): NewMachine
  /** Returns all serial output of the guest. Undefined for a driver without guests. */
  serial?(view: MachineView): Promise<string>
  /** Makes the guest ignore the power button from now on. */
  ignorePowerButton(view: MachineView): Promise<void>
  /** Kills the hypervisor process of a machine. */
  kill?(view: MachineView): Promise<void>
  /** Makes the machine's definition unreadable while no driver is open. The machine is then named by its id. */
  corrupt(view: MachineView): Promise<void>
  close(): Promise<void>
}

type Action =
  | 'start'
  | 'stop'
  | 'stop force'
  | 'restart'
  | 'reset'
  | 'pause'
  | 'suspend'
  | 'resume'
  | 'clone'
  | 'export'
  | 'export suspend'
  | 'configure'
  | 'configure lifecycle'
  | 'delete'
  | 'delete force'

type Row = Readonly<Record<Action, StableState | 'refused' | 'gone'>>

/** The state that each action leads to from each state. It repeats the guard table on purpose. */
const contract: Readonly<Record<StableState, Row>> = {
  stopped: {
    start: 'running',
    stop: 'stopped',
    'stop force': 'stopped',
    restart: 'stopped',
    reset: 'stopped',
    pause: 'refused',
    suspend: 'refused',
    resume: 'refused',
    clone: 'stopped',
    export: 'stopped',
    'export suspend': 'stopped',
    configure: 'stopped',
    'configure lifecycle': 'stopped',
    delete: 'gone',
    'delete force': 'gone',
  },
  running: {
    start: 'running',
    stop: 'stopped',
    'stop force': 'stopped',
    restart: 'running',
    reset: 'running',
    pause: 'paused',
    suspend: 'suspended',
    resume: 'running',
    clone: 'refused',
    export: 'refused',
    'export suspend': 'running',
    configure: 'refused',
    'configure lifecycle': 'running',
    delete: 'refused',
    'delete force': 'gone',
  },
  paused: {
    start: 'running',
    stop: 'refused',
    'stop force': 'stopped',
    restart: 'refused',
    reset: 'paused',
    pause: 'paused',
    suspend: 'suspended',
    resume: 'running',
    clone: 'refused',
    export: 'refused',
    'export suspend': 'refused',
    configure: 'refused',
    'configure lifecycle': 'paused',
    delete: 'refused',
    'delete force': 'gone',
  },
  suspended: {
    start: 'running',
    stop: 'refused',
    'stop force': 'stopped',
    restart: 'refused',
    reset: 'refused',
    pause: 'refused',
    suspend: 'suspended',
    resume: 'running',
    clone: 'refused',
    export: 'refused',
    'export suspend': 'suspended',
    configure: 'refused',
    'configure lifecycle': 'suspended',
    delete: 'refused',
    'delete force': 'gone',
  },
  invalid: {
    start: 'refused',
    stop: 'invalid',
    'stop force': 'invalid',
    restart: 'refused',
    reset: 'refused',
    pause: 'refused',
    suspend: 'refused',
    resume: 'refused',
    clone: 'refused',
    export: 'refused',
    'export suspend': 'refused',
    configure: 'refused',
    'configure lifecycle': 'refused',
    delete: 'gone',
    'delete force': 'gone',
  },
}

/** What the service does with a machine by itself. */
const lifecycle = [
  ['labels', 'set', 'team=build,ci='],
  ['ttl', 'set', '3600'],
  ['ephemeral', 'set', 'off'],
  ['autostart', 'order', '7'],
  ['restart', 'set', 'on-crash'],
].map(([group, operation, value]) => ({ group: group!, operation: operation!, value: value!, options: [], flags: [] }))

const performAction = async (machines: Machines, name: string, action: Action): Promise<unknown> => {
  switch (action) {
    case 'export':
    case 'export suspend': {
      using staging = newFolder()
      const how = { staging: staging.path, suspend: action === 'export suspend' }
      return await withExport(machines, name, how, async () => {})
    }
    case 'stop force':
      return machines.run(name, 'stop', { force: true })
    case 'clone':
      return machines.clone(name, `${name} copy`, { linked: false })
    case 'configure':
      return machines.set(
        name,
        { operations: [{ group: 'memory', operation: 'set', value: '24', options: [], flags: [] }] },
        { dryRun: false },
      )
    case 'configure lifecycle':
      return machines.set(name, { operations: lifecycle }, { dryRun: false })
    case 'delete':
      return machines.remove(name, { force: false })
    case 'delete force':
      return machines.remove(name, { force: true })
    default:
      return machines.run(name, action)
  }
}

const ticks = (serial: string): number[] =>
  [...serial.matchAll(/^T ([0-9A-F]{8})/gim)].map(match => Number.parseInt(match[1]!, 16))

const boots = (serial: string): number[] =>
  [...serial.matchAll(/BOOT ([0-9A-F]{8})/gi)].map(match => Number.parseInt(match[1]!, 16))

interface Extent {
  /** Whether what the guard table refuses is tried too: it refuses that before a driver is asked, so one driver shows it. */
  readonly refusals?: boolean
}

/** The contract suite for every driver: each cell of the guard table, then the rules beyond it. */
export const hypervisorContract = (
  name: string,
  make: () => Promise<Workbench>,
  { refusals = true }: Extent = {},
): void => {
  describe(`the hypervisor contract: ${name}`, () => {
    let bench: Workbench
    let driver: HypervisorDriver
    let machines: Machines
    let opened = false

    const open = async (): Promise<void> => {
      driver = await bench.driver()
      machines = await openMachines({
        driver,
        host,
        leaseImage: refuseImage,
        stopTimeout: 10_000,
        ...(await newEventLog()),
      })
      opened = true
    }
    const closeMachines = async (): Promise<void> => {
      if (opened) await machines.close()
      opened = false
    }
    const view = async (id: string): Promise<MachineView> => (await driver.get(id))!
    const serial = async (id: string): Promise<string> => (await bench.serial?.(await view(id))) ?? ''
    const state = (id: string): string => machines.showStatus(id).status
    const nextTick = async (id: string): Promise<number> => {
      const before = ticks(await serial(id)).length
      return until(async () => {
        const now = ticks(await serial(id))
        expect(now.length).toBeGreaterThan(before)
        return now.at(-1)!
      })
    }
    const booted = (id: string, times: number): Promise<void> =>
      until(async () => expect(boots(await serial(id)).length).toBeGreaterThanOrEqual(times))

    /** Creates a machine in this state and returns its id. A guest has ticked by then. */
    const machineIn = async (wanted: StableState, label: string): Promise<string> => {
      const { id } = await machines.create(bench.machine(label) as Parameters<Machines['create']>[0])
      if (wanted === 'stopped') return id
      if (wanted === 'invalid') {
        const made = await view(id)
        await closeMachines()
        await bench.corrupt(made)
        await open()
        return id
      }
      await machines.run(id, 'start')
      if (bench.serial) await nextTick(id)
      if (wanted === 'paused') await machines.run(id, 'pause')
      if (wanted === 'suspended') await machines.run(id, 'suspend')
      return id
    }

    beforeEach(async () => {
      bench = await make()
      await open()
    })
    afterEach(async () => {
      // Linked clones first: their source cannot be deleted before them.
      if (opened)
        for (const one of (await driver.list()).toReversed())
          await machines.remove(one.id, { force: true }).catch(() => {})
      await closeMachines()
      await bench.close()
    })

    const cells = Object.entries(contract).flatMap(([from, row]) =>
      Object.entries(row)
        .filter(([, to]) => refusals || to !== 'refused')
        .map(([action, to]) => [from, action, to] as [StableState, Action, string]),
    )
    test.for(cells)('%s: %s leads to %s', async ([from, action, to]) => {
      const id = await machineIn(from, 'one')
      const allowed = to === 'refused' && action === 'clone' && from === 'running' && driver.features.cloneRunning
      const result = performAction(machines, id, action)
      if (to === 'refused' && !allowed) {
        await expect(result).rejects.toMatchObject({ fault: 'conflict' })
        expect(state(id)).toBe(from)
      } else {
        await result
        if (to === 'gone') expect(() => machines.showStatus(id)).toThrow('no machine')
        else expect(state(id)).toBe(allowed ? from : to)
      }
      if (bench.serial && to === 'running') await nextTick(id)
    })

    test.for(['stopped', 'running', 'paused', 'suspended', 'invalid'] as const)(
      'the record of a machine that is %s has every key with its type',
      async wanted => {
        const id = await machineIn(wanted, 'recorded')
        const record = machines.show(id)
        expect(MachineRecord.safeParse(record).error).toBeUndefined()
        expect(record).toMatchObject({ ID: id, State: wanted })
        const [listed] = JSON.parse(machines.list().text) as (typeof record)[]
        expect({ ...listed, Uptime: '' }).toEqual({ ...record, Uptime: '' })
      },
    )

    test('two concurrent start requests start the machine once', async () => {
      const id = await machineIn('stopped', 'joined')
      const both = await Promise.all([machines.run(id, 'start'), machines.run(id, 'start')])
      expect(both.map(one => one.status)).toEqual(['Success', 'Success'])
      if (!bench.serial) return
      await nextTick(id)
      expect(boots(await serial(id))).toEqual([1])
    })

    test('a second operation is refused with the name of the running one', async () => {
      const id = await machineIn('stopped', 'busy')
      const starting = machines.run(id, 'start')
      await expect(machines.run(id, 'pause')).rejects.toMatchObject({
        fault: 'conflict',
        message: expect.stringContaining('starting'),
      })
      await starting
      expect(state(id)).toBe('running')
    })

    test('a guest that ignores the power button keeps running after the time limit', async () => {
      const id = await machineIn('running', 'stubborn')
      await bench.ignorePowerButton(await view(id))
      await closeMachines()
      driver = await bench.driver()
      machines = await openMachines({
        driver,
        host,
        leaseImage: refuseImage,
        stopTimeout: 1_000,
        ...(await newEventLog()),
      })
      opened = true
      await expect(machines.run(id, 'stop')).rejects.toMatchObject({ fault: 'timeout' })
      expect(state(id)).toBe('running')
      if (bench.serial) await nextTick(id)
    })

    test('a forced stop preempts a graceful one', async () => {
      const id = await machineIn('running', 'overtaken')
      await bench.ignorePowerButton(await view(id))
      const graceful = machines.run(id, 'stop')
      const rejection = expect(graceful).rejects.toMatchObject({ fault: 'conflict' })
      await machines.run(id, 'stop', { force: true })
      await rejection
      expect(state(id)).toBe('stopped')
    })

    test('a clone is a machine of its own', async () => {
      const id = await machineIn('stopped', 'source')
      const clone = await machines.clone(id, 'copy', { linked: false })
      const [source, copy] = [await view(id), await view(clone)]
      expect(copy.id).not.toBe(source.id)
      expect(copy.definition.networks).toHaveLength(source.definition.networks.length)
      await expect(machines.clone(id, 'COPY', { linked: false })).rejects.toMatchObject({ fault: 'conflict' })
      if (!bench.serial) return
      await machines.run(clone, 'start')
      await nextTick(clone)
      await machines.run(id, 'start')
      await nextTick(id)
      expect(boots(await serial(id))).toEqual([1])
      expect(boots(await serial(clone))).toEqual([1])
    })

    test.for([false, true])(
      'ten clones of one source can be created concurrently during an export of it; linked: %s',
      async linked => {
        if (linked && !driver.features.linkedClone) return
        const attached = await machineIn('stopped', 'attached')
        const source = await machines.clone(attached, 'golden', { linked: false })
        if (bench.serial) {
          await machines.run(source, 'start')
          await booted(source, 1)
          await machines.run(source, 'stop', { force: true })
        }
        using staging = newFolder()
        const clones = await withExport(machines, source, { staging: staging.path }, ({ files }) => {
          expect(files.length).toBeGreaterThan(1)
          const names = Array.from({ length: 10 }, (_, at) => `clone ${at}`)
          return Promise.all(names.map(one => machines.clone(source, one, { linked })))
        })
        expect(new Set([source, ...clones]).size).toBe(11)
        expect(state(source)).toBe('stopped')
        for (const id of clones) expect(state(id)).toBe('stopped')
        if (!bench.serial) return
        for (const id of [clones[0]!, clones[9]!, source]) {
          await machines.run(id, 'start')
          await booted(id, id === source ? 2 : 1)
          expect(boots(await serial(id)).at(-1)).toBe(2)
        }
      },
    )

    test('a linked clone keeps what it shares while its source goes on, and holds its source', async () => {
      if (!driver.features.linkedClone) return
      const attached = await machineIn('stopped', 'attached')
      const source = await machines.clone(attached, 'source', { linked: false })
      const bootOnce = async (id: string, count: number): Promise<void> => {
        await machines.run(id, 'start')
        if (bench.serial) await until(async () => expect(boots(await serial(id)).at(-1)).toBe(count))
        await machines.run(id, 'stop', { force: true })
      }
      await bootOnce(source, 1)
      const clone = await machines.clone(source, 'clone', { linked: true })
      expect((await view(clone)).definition.base).toBe(source)
      await bootOnce(source, 2)
      await bootOnce(source, 3)
      const [later, ofClone] = [
        await machines.clone(source, 'later', { linked: true }),
        await machines.clone(clone, 'of the clone', { linked: true }),
      ]
      await bootOnce(clone, 2)
      await bootOnce(clone, 3)
      await bootOnce(later, 4)
      await bootOnce(ofClone, 2)
      for (const id of [source, clone])
        await expect(machines.remove(id, { force: true })).rejects.toMatchObject({ fault: 'conflict' })
      for (const id of [later, ofClone, clone]) await machines.remove(id, { force: false })
      await bootOnce(source, 4)
      await machines.remove(source, { force: false })
    })

    test('definitions survive a restart of the driver', async () => {
      const id = await machineIn('stopped', 'kept')
      await machines.set(
        id,
        {
          operations: [{ group: 'machine', operation: 'rename', value: 'renamed, "quoted" é', options: [], flags: [] }],
        },
        { dryRun: false },
      )
      await closeMachines()
      await open()
      expect(machines.show('RENAMED, "quoted" É')).toMatchObject({ ID: id, State: 'stopped' })
    })

    test.for(['stopped', 'paused', 'suspended'] as const)(
      'labels and lifetimes that were set in the state %s survive a restart of the driver',
      async wanted => {
        const id = await machineIn(wanted, 'labelled')
        await performAction(machines, id, 'configure lifecycle')
        await closeMachines()
        await open()
        expect(machines.show(id)).toMatchObject({
          labels: { team: 'build', ci: '' },
          expires_at: expect.any(String),
          autostart: { enabled: false, order: 7, delay: 0 },
          restart: 'on-crash',
        })
        if (wanted !== 'suspended' || !bench.serial) return
        await machines.run(id, 'resume')
        await nextTick(id)
        expect(boots(await serial(id))).toEqual([1])
      },
    )

    test('a failed call leaves the machine as it was', async () => {
      const id = await machineIn('stopped', 'narrow')
      const absurd = { operations: [{ group: 'memory', operation: 'set', value: '99999999', options: [], flags: [] }] }
      await expect(machines.set(id, absurd, { dryRun: false })).rejects.toMatchObject({ fault: 'invalid' })
      expect(machines.show(id).Hardware.memory.size).toBe(`${bench.machine('x').memory}Mb`)
    })

    packedMachinesContract(
      {
        driver: () => driver,
        machines: () => machines,
        machineIn,
        view,
        boots: async id => boots(await serial(id)),
        booted,
        nextTick,
        closeMachines,
        open,
      },
      name.includes('guest'),
    )

    describe.skipIf(!name.includes('guest'))('with a guest', () => {
      test('a paused guest does not tick, and continues with the next tick', async () => {
        const id = await machineIn('paused', 'halted')
        const at = ticks(await serial(id)).at(-1)!
        // Of a guest that runs, two ticks.
        await pause(200)
        expect(ticks(await serial(id)).at(-1)).toBe(at)
        await machines.run(id, 'resume')
        await nextTick(id)
        expect(ticks(await serial(id))).toContain(at + 1)
        expect(boots(await serial(id))).toEqual([1])
      })

      test('a suspended guest continues with the next tick under a new driver', async () => {
        const id = await machineIn('suspended', 'asleep')
        const at = ticks(await serial(id)).at(-1)!
        await closeMachines()
        await open()
        expect(state(id)).toBe('suspended')
        await machines.run(id, 'resume')
        await nextTick(id)
        expect(ticks(await serial(id))).toContain(at + 1)
        expect(boots(await serial(id))).toEqual([1])
      })

      test.for(['restart', 'reset'] as const)('%s boots once more from the same disk', async verb => {
        const id = await machineIn('running', 'again')
        await machines.run(id, verb)
        await booted(id, 2)
        expect(boots(await serial(id))).toEqual([1, 2])
        await until(async () => expect(ticks(await serial(id)).lastIndexOf(1)).toBeGreaterThan(0))
      })

      test('a running guest continues without a gap when the driver is closed and opened again', async () => {
        const id = await machineIn('running', 'unbroken')
        await closeMachines()
        await open()
        expect(state(id)).toBe('running')
        await nextTick(id)
        const seen = ticks(await serial(id))
        expect(seen).toEqual(seen.map((_, at) => at + 1))
        expect(boots(await serial(id))).toEqual([1])
      })

      test('a machine whose hypervisor was killed is shown as crashed, and can start again', async () => {
        const id = await machineIn('running', 'killed')
        await bench.kill!(await view(id))
        await until(() => expect(state(id)).toBe('stopped'))
        expect((await view(id)).problem).toContain('crash')
        await machines.run(id, 'start')
        await booted(id, 2)
        expect((await view(id)).problem).toBeUndefined()
      })

      test('a truncated state file is refused and kept, and a forced stop deletes it', async () => {
        const id = await machineIn('suspended', 'cut')
        await truncate((await view(id)).stateFile!, 100)
        await expect(machines.run(id, 'resume')).rejects.toBeInstanceOf(Error)
        expect(state(id)).toBe('suspended')
        expect((await view(id)).problem).toBeDefined()
        await machines.run(id, 'stop', { force: true })
        await machines.run(id, 'start')
        await booted(id, 2)
      })
    })
  })
}
