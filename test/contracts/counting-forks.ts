import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'
import { createApp } from '#lib/http/app.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import forkEndpoint from '#functions/machines/fork.ts'
import { newEventLog } from '../support/events.ts'
import { callOf, host } from '../support/harness.ts'
import { refuseImage } from '../support/images.ts'
import { patience, until } from '../support/waiting.ts'
import type { Workbench } from './hypervisor.ts'

/** What a driver under test provides: a guest that counts its boots on its disk and ticks in memory. */
export interface CountingForkBench
  extends Pick<Workbench, 'driver' | 'machine' | 'close'>, Required<Pick<Workbench, 'serial'>> {
  /** Whether a fork can fork before its next start. */
  readonly forksCanFork: boolean
}

const numbersOf = (serial: string, pattern: RegExp): number[] =>
  [...serial.matchAll(pattern)].map(match => Number.parseInt(match[1]!, 16))
const ticksOf = (serial: string): number[] => numbersOf(serial, /^T ([0-9A-F]{8})/gim)
const bootsOf = (serial: string): number[] => numbersOf(serial, /BOOT ([0-9A-F]{8})/gi)

/** The rules of forks for the memory, the disk and the machine itself. `forks.ts` has those for what an agent tells a guest. */
export const countingForksContract = (name: string, make: () => Promise<CountingForkBench>): void => {
  describe(`forks of a guest that counts: ${name}`, () => {
    let bench: CountingForkBench
    let driver: HypervisorDriver
    let machines: Machines
    let call: ReturnType<typeof callOf>
    let parent: string
    const caller = {
      ...{
        id: randomUUID(),
        username: 'jane',
        email: '',
        roles: [],
        claims: new Set<ClaimName>(),
      },
      superUser: false,
    } satisfies Principal
    const view = async (id: string): Promise<MachineView> => (await driver.get(id))!
    const serial = async (id: string): Promise<string> => bench.serial(await view(id))
    /** Waits for a tick after the first `length` characters of the output, and returns the first one there. */
    const firstTickAfter = (id: string, length: number): Promise<number> =>
      until(async () => {
        const [first] = ticksOf((await serial(id)).slice(length))
        expect(first).toBeDefined()
        return first!
      })
    const tickOnce = async (id: string): Promise<number> => firstTickAfter(id, (await serial(id)).length)
    const bootAgain = async (id: string, boots: number[]): Promise<void> => {
      await machines.run(id, 'stop', { force: true })
      await machines.run(id, 'start')
      await until(async () => expect(bootsOf(await serial(id))).toEqual(boots))
    }
    const fork = async (body: object = {}, of = parent) => {
      const reply = await call('POST', `/api/v1/machines/${of}/fork`, { body })
      expect(reply.status, JSON.stringify(reply.body)).toBe(201)
      return reply.body
    }
    const remove = (id: string): Promise<void> => machines.remove(id, { force: true })

    beforeEach(async () => {
      caller.claims = new Set(['CREATE_VM', 'EXECUTE_COMMAND_VM', 'LIST_SNAPSHOT_VM'])
      bench = await make()
      driver = await bench.driver()
      const log = await newEventLog()
      machines = await openMachines({ driver, host, leaseImage: refuseImage, stopTimeout: patience, ...log })
      const services = { machines }
      const routes = [{ id: 'machines/fork', endpoint: forkEndpoint }]
      call = callOf(
        createApp({ routes, services, authenticate: async () => caller, onOutcome: () => {}, checkReplies: true }),
      )
      // A disk of its own: those of the bench may be files of the host.
      const { id: source } = await machines.create(bench.machine('source') as Parameters<Machines['create']>[0])
      parent = await machines.clone(source, 'parent', { linked: false })
      await machines.run(parent, 'start')
      await tickOnce(parent)
    })
    afterEach(async () => {
      for (const { id } of (await driver.list()).toReversed()) await remove(id).catch(() => {})
      await machines.close()
      await bench.close()
    })

    test('memory goes on from the present moment and disks are apart, also after a suspend', async () => {
      const before = await tickOnce(parent)
      const { forks, pending, unchanged } = await fork({ names: ['one', 'two'], labels: { use: 'test' }, ttl: 3600 })
      expect(forks).toMatchObject([
        { name: 'one', current_state: 'running', expires_at: expect.stringMatching(/Z$/) },
        { name: 'two', current_state: 'running' },
      ])
      expect(pending).toEqual(driver.platform.networkCard === '' ? [] : ['mac_address'])
      expect(unchanged).toEqual(expect.arrayContaining(['hostname', 'machine_id', 'secrets_in_memory']))
      const ids: string[] = forks.map(({ id }: { id: string }) => id)
      for (const id of ids) {
        expect((await view(id)).definition).toMatchObject({ base: parent, owner: caller.id, labels: { use: 'test' } })
        await tickOnce(id)
        // The guest has not booted again, and ticks on without a gap.
        const ticks = ticksOf(await serial(id))
        expect(ticks).toEqual(ticks.map((_, index) => ticks[0]! + index))
        expect(ticks[0]).toBeGreaterThan(before)
        expect(bootsOf(await serial(id))).toEqual([])
      }
      const ticks = ticksOf(await serial(parent))
      expect(ticks).toEqual(ticks.map((_, index) => ticks[0]! + index))
      const macs = await Promise.all([parent, ...ids].map(async id => (await view(id)).definition.networks[0]!.mac))
      expect(new Set(macs).size).toBe(3)

      const [one, two] = ids as [string, string]
      await machines.run(two, 'suspend')
      const output = await serial(two)
      await machines.run(two, 'resume')
      expect(await firstTickAfter(two, output.length)).toBe(ticksOf(output).at(-1)! + 1)
      await bootAgain(one, [2])
      await bootAgain(one, [2, 3])
      await bootAgain(parent, [1, 2])
      await bootAgain(two, [2])
    })

    test('a paused machine stays paused, and its fork runs', async () => {
      await machines.run(parent, 'pause')
      const { forks } = await fork({})
      expect(forks).toMatchObject([{ name: 'parent-fork-1', current_state: 'running' }])
      expect(await view(parent)).toMatchObject({ state: 'paused' })
      await tickOnce(forks[0].id)
      await machines.run(parent, 'resume')
      await tickOnce(parent)
    })

    test('a source stays until its forks are gone, and what is stopped cannot fork', async () => {
      const { forks } = await fork({ count: 2 })
      await expect(remove(parent)).rejects.toMatchObject({ fault: 'conflict' })
      for (const { id } of forks) await remove(id)
      await machines.run(parent, 'stop', { force: true })
      expect(await call('POST', `/api/v1/machines/${parent}/fork`, { body: {} })).toMatchObject({ status: 409 })
      await remove(parent)
      expect(await driver.list()).toMatchObject([{ name: 'source' }])
    })

    test('a fork forks, some drivers say after its next start', async () => {
      const [{ id }] = (await fork({})).forks
      if (!bench.forksCanFork) {
        const { status, body } = await call('POST', `/api/v1/machines/${id}/fork`, { body: {} })
        expect([status, body.message]).toEqual([409, expect.stringContaining('after its next start')])
        await bootAgain(id, [2])
      }
      const before = await tickOnce(id)
      const [child] = (await fork({}, id)).forks
      expect(await tickOnce(child.id)).toBeGreaterThan(before)
      expect(bootsOf(await serial(child.id))).toEqual([])
    })

    /** Makes a snapshot of the source. Returns the last tick before it. */
    const keep = async (name: string, memory: boolean): Promise<number> => {
      const request = { snapshot_name: name, snapshot_description: '', memory }
      await machines.createSnapshot(parent, request, { caller: { ...caller, superUser: true } })
      return ticksOf(await serial(parent)).at(-1)!
    }

    test('forks of a snapshot go on from its moment with its disk, whatever the machine does', async () => {
      const kept = await keep('kept', true)
      await until(async () => expect(await tickOnce(parent)).toBeGreaterThan(kept + 5))
      const { forks, pending } = await fork({ snapshot: 'kept', names: ['one', 'two'], labels: { use: 'test' } })
      expect(forks).toMatchObject([
        { name: 'one', current_state: 'running' },
        { name: 'two', current_state: 'running' },
      ])
      expect(pending.includes('mac_address')).toBe(driver.platform.networkCard !== '')
      for (const { id } of forks) {
        expect((await view(id)).definition).toMatchObject({ base: parent, owner: caller.id, labels: { use: 'test' } })
        // What the guest had not written yet when the snapshot was made comes again.
        expect(Math.abs((await firstTickAfter(id, 0)) - kept - 1)).toBeLessThan(5)
        expect(bootsOf(await serial(id))).toEqual([])
      }
      await bootAgain(parent, [1, 2])
      const [one] = forks
      await bootAgain(one.id, [2])
      // The memory of the snapshot is still there, and the disk is that of then.
      await machines.run(parent, 'stop', { force: true })
      const [three] = (await fork({ snapshot: 'kept' })).forks
      expect(Math.abs((await firstTickAfter(three.id, 0)) - kept - 1)).toBeLessThan(5)
      await bootAgain(three.id, [2])
      await bootAgain(three.id, [2, 3])
      expect((await view(parent)).state).toBe('stopped')
      await expect(remove(parent)).rejects.toMatchObject({ fault: 'conflict' })
    })

    test('forks of a snapshot without memory boot', async () => {
      await keep('disk', false)
      const { forks, pending, unchanged } = await fork({ snapshot: 'DISK', names: ['one'] })
      await until(async () => expect(bootsOf(await serial(forks[0].id))).toEqual([2]))
      expect([pending, unchanged]).toEqual([[], ['hostname', 'machine_id', 'host_keys', 'content_of_disks']])
      await tickOnce(forks[0].id)
    })

    test('a fork of a snapshot needs the snapshot, and the right to list those of the machine', async () => {
      await keep('kept', true)
      const refuse = async (body: object): Promise<number> =>
        (await call('POST', `/api/v1/machines/${parent}/fork`, { body })).status
      expect(await refuse({ snapshot: 'other' })).toBe(404)
      expect(await refuse({ snapshot: 'kept', names: ['new', 'source'] })).toBe(409)
      caller.claims.delete('LIST_SNAPSHOT_VM')
      expect(await refuse({ snapshot: 'kept' })).toBe(403)
      expect(await driver.list()).toHaveLength(2)
    })

    test('names that are taken make no fork at all', async () => {
      const names = ['new', 'source']
      expect(await call('POST', `/api/v1/machines/${parent}/fork`, { body: { names } })).toMatchObject({ status: 409 })
      expect(await driver.list()).toHaveLength(2)
      await tickOnce(parent)
    })
  })
}
