import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { createApp } from '#lib/http/app.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import createSnapshot from '#functions/machines/create-snapshot.ts'
import deleteSnapshot from '#functions/machines/delete-snapshot.ts'
import deleteSnapshots from '#functions/machines/delete-snapshots.ts'
import listSnapshots from '#functions/machines/list-snapshots.ts'
import revertToSnapshot from '#functions/machines/revert-to-snapshot.ts'
import showSnapshot from '#functions/machines/show-snapshot.ts'
import updateSnapshot from '#functions/machines/update-snapshot.ts'
import { callOf, host } from '../support/harness.ts'
import { newEventLog } from '../support/events.ts'
import { withExport } from '../support/exports.ts'
import { refuseImage } from '../support/images.ts'
import { rounds } from '../support/rounds.ts'
import { pause, until } from '../support/waiting.ts'
import type { Workbench } from './hypervisor.ts'

/** What a driver under test provides: a guest that counts its boots on its disk and ticks in memory. */
export type SnapshotBench = Pick<Workbench, 'driver' | 'machine' | 'close'> & Required<Pick<Workbench, 'serial'>>

const routes = [
  { id: 'machines/create-snapshot', endpoint: createSnapshot },
  { id: 'machines/delete-snapshot', endpoint: deleteSnapshot },
  { id: 'machines/delete-snapshots', endpoint: deleteSnapshots },
  { id: 'machines/list-snapshots', endpoint: listSnapshots },
  { id: 'machines/revert-to-snapshot', endpoint: revertToSnapshot },
  { id: 'machines/show-snapshot', endpoint: showSnapshot },
  { id: 'machines/update-snapshot', endpoint: updateSnapshot },
]

const numbersOf = (serial: string, pattern: RegExp): number[] =>
  [...serial.matchAll(pattern)].map(match => Number.parseInt(match[1]!, 16))
const ticksOf = (serial: string): number[] => numbersOf(serial, /^T ([0-9A-F]{8})/gim)
const bootsOf = (serial: string): number[] => numbersOf(serial, /BOOT ([0-9A-F]{8})/gi)

/** The contract suite for snapshots: what a client sees, and what the guest says. */
export const snapshotsContract = (name: string, make: () => Promise<SnapshotBench>): void => {
  describe(`the contract of snapshots: ${name}`, () => {
    let bench: SnapshotBench
    let driver: HypervisorDriver
    let machines: Machines
    let id: string
    let eventLog: Awaited<ReturnType<typeof newEventLog>>
    const caller: { -readonly [M in keyof Principal]: Principal[M] } = {
      ...{ id: randomUUID(), username: 'jane', email: '', roles: [], claims: new Set() },
      superUser: true,
    }

    const open = async (): Promise<void> => {
      driver = await bench.driver()
      machines = await openMachines({ driver, host, leaseImage: refuseImage, stopTimeout: 10_000, ...eventLog })
    }
    const call = (...request: Parameters<ReturnType<typeof callOf>>) =>
      callOf(
        createApp({
          ...{ routes, services: { machines }, checkReplies: true, onOutcome: () => {} },
          authenticate: async () => ({ ...caller }),
        }),
      )(...request)
    const at = (path = ''): string => `/api/v1/machines/${id}/snapshots${path}`
    const succeed = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
      const reply = await call(method, at(path), { body })
      expect(reply.body).not.toMatchObject({ code: expect.not.toBeOneOf([202]) })
      return reply.body
    }
    const create = async (snapshot_name: string, more: object = {}): Promise<string> =>
      (await succeed('POST', '', { snapshot_name, ...more })).snapshot_id
    const revert = (snapshot: string, body?: object) => succeed('POST', `/${snapshot}/revert`, body)
    const view = async (): Promise<MachineView> => (await driver.get(id))!
    const serial = async (): Promise<string> => bench.serial(await view())
    const state = (): string => machines.showStatus(id).status
    const lastTick = async (): Promise<number> => ticksOf(await serial()).at(-1)!
    /** Waits for a tick after the first `length` characters of the output, and returns the first one there. */
    const firstTickAfter = (length: number): Promise<number> =>
      until(async () => {
        const [first] = ticksOf((await serial()).slice(length))
        expect(first).toBeDefined()
        return first!
      })
    const tickOnce = async (): Promise<number> => firstTickAfter((await serial()).length)
    const waitForBoots = (boots: number[]): Promise<void> =>
      until(async () => expect(bootsOf(await serial())).toEqual(boots))
    /** Makes a snapshot of the running machine, and returns the ticks that its memory may have. */
    const createRunning = async (label: string): Promise<readonly [number, number]> => {
      const before = await tickOnce()
      await create(label)
      expect(state()).toBe('running')
      await tickOnce()
      return [before, await lastTick()]
    }
    /** Reverts the machine, which prints nothing now, and checks that the guest continues with its memory of the snapshot. */
    const continueFrom = async (label: string, [before, after]: readonly [number, number]): Promise<void> => {
      const { length } = await serial()
      const boots = bootsOf(await serial())
      await revert(label)
      expect(state()).toBe('running')
      const tick = await firstTickAfter(length)
      expect(bootsOf(await serial())).toEqual(boots)
      expect(tick).toBeGreaterThan(before)
      expect(tick).toBeLessThanOrEqual(after + 1)
    }

    beforeEach(async () => {
      bench = await make()
      eventLog = await newEventLog()
      Object.assign(caller, { superUser: true, claims: new Set() })
      await open()
      // A disk of its own: those of the bench are files of the host.
      const { id: source } = await machines.create(bench.machine('source') as Parameters<Machines['create']>[0])
      id = await machines.clone(source, 'one', { linked: false })
    })
    afterEach(async () => {
      for (const one of (await driver.list()).toReversed())
        await machines.remove(one.id, { force: true }).catch(() => {})
      await machines.close()
      await bench.close()
    })
    const boot = async (): Promise<void> => {
      await machines.run(id, 'start')
      await tickOnce()
    }

    test('a counter in memory continues and a counter on disk is that of the snapshot, however often', async () => {
      await boot()
      const ticks = await createRunning('clean')
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
      const boots = [1, 2]
      for (const _ of rounds([1], [1, 2, 3])) {
        await machines.run(id, 'pause')
        await pause(100)
        await continueFrom('clean', ticks)
        await machines.run(id, 'restart')
        boots.push(2)
        await waitForBoots(boots)
      }
      await machines.run(id, 'stop', { force: true })
      await continueFrom('CLEAN', ticks)
      await machines.run(id, 'suspend')
      await continueFrom('clean', ticks)
    })

    test('a running guest continues without a gap, and its snapshots do not change', async () => {
      await boot()
      const first = await createRunning('first')
      const second = await createRunning('second')
      const third = await createRunning('third')
      const ticks = ticksOf(await serial())
      expect(ticks).toEqual(ticks.map((_, index) => ticks[0]! + index))
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
      const order = [
        ['second', second],
        ['first', first],
        ['third', third],
        ['first', first],
      ] as const
      for (const [label, range] of rounds<readonly (typeof order)[number][]>(order.slice(1, 3), order)) {
        await machines.run(id, 'pause')
        await pause(100)
        await continueFrom(label, range)
      }
    })

    test('snapshots of a snapshot that was reverted to', async () => {
      await boot()
      let ticks = await createRunning('0')
      for (const label of rounds(['1', '2'], ['1', '2', '3'])) {
        await machines.run(id, 'pause')
        await pause(100)
        await continueFrom(String(Number(label) - 1), ticks)
        ticks = await createRunning(label)
      }
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
    })

    test.for(['stopped', 'paused', 'suspended'] as const)('a snapshot of a machine that is %s', async wanted => {
      await boot()
      if (wanted === 'stopped') await machines.run(id, 'stop', { force: true })
      if (wanted === 'paused') await machines.run(id, 'pause')
      if (wanted === 'suspended') await machines.run(id, 'suspend')
      await pause(100)
      const tick = await lastTick()
      await create('here')
      expect(state()).toBe(wanted)
      if (wanted === 'stopped') await machines.run(id, 'start')
      else await machines.run(id, 'resume')
      if (wanted === 'stopped') await waitForBoots([1, 2])
      await tickOnce()
      await machines.run(id, 'stop', { force: true })
      const { length } = await serial()
      await revert('here')
      expect(state()).toBe(wanted)
      if (wanted === 'stopped') {
        await machines.run(id, 'start')
        await waitForBoots([1, 2, 2])
      } else {
        await machines.run(id, 'resume')
        // QEMU may let a paused guest run for an instant when it has saved its memory.
        expect(await firstTickAfter(length)).toBe(tick + 1)
        expect(bootsOf(await serial())).toEqual([1])
      }
    })

    test('a paused guest stays paused while snapshots are made, and can be suspended and run afterwards', async () => {
      await boot()
      await machines.run(id, 'pause')
      for (const label of ['a', 'b']) await create(label)
      expect(state()).toBe('paused')
      await machines.run(id, 'suspend')
      await create('c')
      await machines.run(id, 'resume')
      await create('d')
      await tickOnce()
      expect(bootsOf(await serial())).toEqual([1])
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
    })

    test('a snapshot without memory leads to a stopped machine with the disk of then', async () => {
      await boot()
      await create('disk', { memory: false })
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
      expect(await revert('disk')).toMatchObject({ state: 'poweroff', current: true })
      expect(state()).toBe('stopped')
      await machines.run(id, 'start')
      await waitForBoots([1, 2, 2])
    })

    test('with skip_resume the machine is suspended', async () => {
      await boot()
      const ticks = await createRunning('kept')
      await machines.run(id, 'pause')
      await revert('kept', { skip_resume: true })
      expect(state()).toBe('suspended')
      const { length } = await serial()
      await machines.run(id, 'resume')
      const tick = await firstTickAfter(length)
      expect(tick).toBeGreaterThan(ticks[0])
      expect(tick).toBeLessThanOrEqual(ticks[1] + 1)
    })

    test('list, tree, names, and deletion', async () => {
      const [first, second] = [await create('first', { snapshot_description: 'as installed' }), await create('Second')]
      expect(await revert('first')).toMatchObject({ id: first, current: true })
      const { snapshot_name: generated } = await succeed('POST', '')
      expect(generated).toBe('Snapshot 1')
      const third = (await succeed('GET', `/${generated}`)).id
      expect(await succeed('GET', '')).toMatchObject({
        snapshots: [
          { id: first, name: 'first', description: 'as installed', parent: '', current: false, state: 'poweroff' },
          { id: second, name: 'Second', parent: first, current: false },
          { id: third, name: 'Snapshot 1', parent: first, current: true },
        ],
      })
      expect(await succeed('GET', '?group=true')).toMatchObject({
        snapshots: [{ id: first, children: [{ id: second }, { id: third }] }],
      })
      expect(await call('POST', at(), { body: { snapshot_name: 'SECOND' } })).toMatchObject({ status: 409 })
      expect(await call('PUT', at('/first'), { body: { snapshot_name: 'second' } })).toMatchObject({ status: 409 })
      expect(await call('PUT', at('/first'), { body: {} })).toMatchObject({ status: 400 })
      expect(await call('POST', at('/fourth/revert'))).toMatchObject({ status: 404 })
      expect(await succeed('PUT', '/FIRST', { snapshot_name: 'First', snapshot_description: '' })).toMatchObject({
        ...{ id: first, name: 'First', description: '' },
      })

      await machines.close()
      eventLog = await newEventLog()
      await open()
      expect((await succeed('GET', '')).snapshots).toHaveLength(3)
      await succeed('DELETE', `/${first}`)
      expect(await succeed('GET', '?group=true')).toMatchObject({
        snapshots: [
          { id: second, parent: '' },
          { id: third, parent: '' },
        ],
      })
      await succeed('DELETE', '')
      expect(await succeed('GET', '')).toEqual({ snapshots: [] })
    })

    test('deleted snapshots take their children along if asked to, and leave no file', async () => {
      const before = await readdir((await view()).home)
      await boot()
      for (const label of ['a', 'b', 'c']) await create(label)
      await succeed('DELETE', '/b', { delete_children: true })
      expect((await succeed('GET', '')).snapshots).toMatchObject([{ name: 'a', current: true }])
      await succeed('DELETE', '/a')
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
      await machines.run(id, 'stop', { force: true })
      await machines.run(id, 'start')
      await waitForBoots([1, 2, 3])
      await machines.run(id, 'stop', { force: true })
      const left = (await readdir((await view()).home)).filter(file => !before.includes(file))
      expect(left.filter(file => /snapshot-|\.new$|\.mem/.test(file))).toEqual([])
    })

    test('a copy of a machine with snapshots has what its disk has now', async () => {
      await boot()
      await create('old')
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
      const copies: string[] = []
      if (driver.features.cloneRunning)
        copies.push(await machines.clone(id, 'copy of a running one', { linked: false }))
      await machines.run(id, 'stop', { force: true })
      copies.push(await machines.clone(id, 'copy', { linked: false }))
      if (driver.features.linkedClone) copies.push(await machines.clone(id, 'linked', { linked: true }))
      for (const copy of copies) {
        expect((await driver.get(copy))!.snapshots).toBeUndefined()
        await machines.run(copy, 'start')
        await until(async () => expect(bootsOf(await bench.serial((await driver.get(copy))!))).toEqual([3]))
      }
      await revert('old')
      await machines.run(id, 'restart')
      await waitForBoots([1, 2, 2])
    })

    test('a snapshot becomes machines by a clone and by a pack, while its machine runs or is suspended', async () => {
      await boot()
      await create('old', { memory: false })
      await machines.run(id, 'restart')
      await waitForBoots([1, 2])
      const copies = [await machines.clone(id, 'clone', { linked: false, snapshot: 'OLD' })]
      if (driver.features.linkedClone)
        copies.push(await machines.clone(id, 'linked', { linked: true, snapshot: 'old' }))
      expect(state()).toBe('running')
      const staging = await mkdtemp(join(tmpdir(), 'vmhost-staging-'))
      await machines.run(id, 'suspend')
      await withExport(machines, id, { staging, snapshot: 'old' }, async ({ files }) => {
        const copyFiles = async (folder: string): Promise<void> => {
          for (const { name: file, path } of files) await copyFile(path, join(folder, file))
        }
        copies.push((await machines.import({ name: 'pulled' }, copyFiles)).id)
      })
      expect(state()).toBe('suspended')
      expect(await readdir(staging)).toEqual([])
      await rm(staging, { recursive: true })
      // Only the copies need the disk of then.
      await succeed('DELETE', '')
      for (const copy of copies) {
        expect((await driver.get(copy))!.snapshots).toBeUndefined()
        await machines.run(copy, 'start')
        await until(async () => expect(bootsOf(await bench.serial((await driver.get(copy))!))).toEqual([2]))
        await machines.run(copy, 'stop', { force: true })
      }
      await machines.run(id, 'resume')
      await machines.run(id, 'restart')
      await waitForBoots([1, 2, 3])
      await expect(machines.clone(id, 'none', { linked: false, snapshot: 'old' })).rejects.toMatchObject({
        fault: 'not-found',
      })
    })

    test('events say what the snapshots are, and only users with the claim for any machine get them', async () => {
      const before = eventLog.events.head()
      const snapshot = await create('one')
      await succeed('DELETE', '/one')
      const found = eventLog.events.entries(before, 100).filter(({ message }) => message === 'VM_SNAPSHOTS_UPDATED')
      expect(found).toMatchObject([
        { body: { vm_id: id, snapshots: [{ id: snapshot, name: 'one', current: true }] } },
        { body: { vm_id: id, snapshots: null } },
      ])
      for (const { audience } of found) expect(audience).toEqual({ claims: ['LIST_SNAPSHOT_VM'] })
    })

    test('own claims are for own machines, and each call has its claim', async () => {
      await create('one')
      const requests = [
        ['GET', '', 'LIST_OWN_VM_SNAPSHOT', 'LIST_SNAPSHOT_VM'],
        ['GET', '/one', 'LIST_OWN_VM_SNAPSHOT', 'LIST_SNAPSHOT_VM'],
        ['POST', '', 'CREATE_OWN_VM_SNAPSHOT', 'CREATE_SNAPSHOT_VM'],
        ['POST', '/one/revert', 'REVERT_OWN_VM_SNAPSHOT', 'REVERT_SNAPSHOT_VM'],
        ['DELETE', '/one', 'DELETE_OWN_VM_SNAPSHOT', 'DELETE_SNAPSHOT_VM'],
        ['DELETE', '', 'DELETE_ALL_OWN_VM_SNAPSHOTS', 'DELETE_ALL_SNAPSHOTS_VM'],
      ] as const
      for (const [method, path, own, any] of requests) {
        Object.assign(caller, { superUser: false, claims: new Set(['LIST_VM', own]) })
        expect(await call(method, at(path))).toMatchObject({ status: 403 })
        Object.assign(caller, { claims: new Set([any]) })
        expect(await call(method, at(path))).toMatchObject({ status: expect.toBeOneOf([200, 202]) })
      }
    })
  })
}
