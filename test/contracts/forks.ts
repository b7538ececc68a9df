import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { createApp } from '#lib/http/app.ts'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import forkEndpoint from '#functions/machines/fork.ts'
import { newEventLog } from '../support/events.ts'
import { callOf, host } from '../support/harness.ts'
import { refuseImage } from '../support/images.ts'
import { until } from '../support/waiting.ts'

/** What a driver under test provides to the contract suite. */
export interface ForkBench {
  driver(): Promise<HypervisorDriver>
  /** A machine with one empty disk of at least 1 MB and one card, whose guest runs commands of a shell and has an agent. */
  machine(name: string): NewMachine
  /** Resolves when the guest takes commands and its agent answers. */
  waitForGuest(view: () => Promise<MachineView | undefined>): Promise<void>
  /** Resolves when the next fork of a machine that has forked is as fast as it can be. */
  waitForReady(view: () => Promise<MachineView | undefined>): Promise<void>
  /** Runs a command in the shell of the guest, and returns its output. */
  run(view: MachineView, command: string): Promise<string>
  close(): Promise<void>
}

/** Counts in the memory of the guest, ten times a second. */
const startCounter = '(n=0; while :; do n=$((n+1)); echo $n >/tmp/counter; usleep 100000; done) >/dev/null 2>&1 &'
const readCounter = 'cat /tmp/counter'
const readDisk = 'head -c 6 /dev/vda'
const writeDisk = (text: string): string => `printf ${text} | dd of=/dev/vda conv=notrunc,fsync 2>/dev/null`
const readMac = 'cat /sys/class/net/eth0/address'

/** The rules of forks, which hold on every driver that has them. */
export const forkContract = (name: string, createBench: () => Promise<ForkBench>): void => {
  describe(`forks: ${name}`, () => {
    let bench: ForkBench
    let driver: HypervisorDriver
    let machines: Machines
    const caller: Principal = {
      id: randomUUID(),
      username: 'jane',
      email: '',
      roles: [],
      claims: new Set(['CREATE_VM', 'EXECUTE_COMMAND_VM']),
      superUser: false,
    }
    let call: ReturnType<typeof callOf>
    const view = async (id: string): Promise<MachineView> => (await driver.get(id))!
    const run = async (id: string, command: string): Promise<string> => bench.run(await view(id), command)
    const readNumber = async (id: string): Promise<number> => Number(await run(id, readCounter))
    const expectToCount = async (id: string, from: number): Promise<void> => {
      await until(async () => expect(await readNumber(id)).toBeGreaterThan(from))
    }
    const fork = async (body: object, of = 'parent') => {
      const reply = await call('POST', `/api/v1/machines/${of}/fork`, { body })
      expect(reply.status, JSON.stringify(reply.body)).toBe(201)
      return reply.body
    }
    const remove = (id: string): Promise<void> => machines.remove(id, { force: true })
    let parent: string

    beforeAll(async () => {
      bench = await createBench()
      driver = await bench.driver()
      machines = await openMachines({
        ...{ driver, host, leaseImage: refuseImage, stopTimeout: 30_000 },
        ...(await newEventLog()),
      })
      call = callOf(
        createApp({
          routes: [{ id: 'machines/fork', endpoint: forkEndpoint }],
          services: { machines },
          authenticate: async () => caller,
          onOutcome: () => {},
          checkReplies: true,
        }),
      )
      parent = (await machines.create({ ...bench.machine('parent'), labels: { team: 'web' } } as never)).id
      await machines.run(parent, 'start')
      await bench.waitForGuest(() => driver.get(parent))
      await run(parent, `${startCounter} ${writeDisk('PARENT')}`)
    })
    afterAll(async () => {
      for (const { id, definition } of await driver.list()) if (definition.base !== undefined) await remove(id)
      await remove(parent)
      await machines.close()
      await driver.close()
      await bench.close()
    })

    test('forks go on from the present moment, each for itself', async () => {
      const before = await readNumber(parent)
      const { forks, pending, unchanged } = await fork({
        names: ['one', 'two'],
        labels: { use: 'test' },
        ephemeral: true,
        ttl: 3600,
      })
      expect(forks).toMatchObject([
        { name: 'one', current_state: 'running', expires_at: expect.stringMatching(/Z$/) },
        { name: 'two', current_state: 'running' },
      ])
      expect(pending).toEqual(['mac_address', 'hostname', 'machine_id', 'random_numbers'])
      expect(unchanged).toContain('host_keys')
      const [one, two] = [forks[0].id, forks[1].id]
      expect((await view(one)).definition).toMatchObject({
        ...{ name: 'one', owner: caller.id, ephemeral: true, labels: { team: 'web', use: 'test' } },
        expires_at: forks[0].expires_at,
      })
      // A guest that had booted again would count from one, and would have no counter.
      for (const id of [parent, one, two]) await expectToCount(id, before)

      for (const id of [one, two]) expect(await run(id, readDisk)).toBe('PARENT')
      await run(one, writeDisk('FIRST.'))
      await run(parent, writeDisk('SOURCE'))
      expect(await run(one, readDisk)).toBe('FIRST.')
      expect(await run(two, readDisk)).toBe('PARENT')
      expect(await run(parent, readDisk)).toBe('SOURCE')

      const macs = await Promise.all(
        [one, two].map(async id => {
          const { mac } = (await view(id)).definition.networks[0]!
          await until(async () => expect(await run(id, readMac)).toBe(mac))
          await until(async () => expect((await view(id)).disconnectedCards).toBeUndefined())
          return mac
        }),
      )
      expect(new Set([...macs, await run(parent, readMac)]).size).toBe(3)
      await until(async () => expect(await run(one, 'hostname')).toBe('one'))
      await until(async () => expect(await run(two, 'hostname')).toBe('two'))
      expect(await run(parent, 'hostname')).not.toMatch(/^(one|two)$/)

      // What a suspend saves is all of the memory of a fork.
      const reached = await readNumber(two)
      await machines.run(two, 'suspend')
      await machines.run(two, 'resume')
      await expectToCount(two, reached)
      await expect(machines.remove(parent, { force: true })).rejects.toMatchObject({ fault: 'conflict' })
      for (const id of [one, two]) await remove(id)
      await expectToCount(parent, reached)
    })

    test('a paused machine stays paused under its forks, and goes on afterwards', async () => {
      await machines.run(parent, 'pause')
      for (const name of ['first', 'second']) {
        const { forks } = await fork({ names: [name] })
        expect(await view(parent)).toMatchObject({ state: 'paused' })
        await expectToCount(forks[0].id, await readNumber(forks[0].id))
        await remove(forks[0].id)
      }
      await machines.run(parent, 'resume')
      await expectToCount(parent, await readNumber(parent))
      expect(await run(parent, readDisk)).toMatch(/SOURCE|PARENT/)
    })

    test('forks that stay keep the content of their moment, however often the machine forks and writes', async () => {
      const write = (place: number): string =>
        `printf ROUND${place} | dd of=/dev/vda bs=65536 seek=${place} conv=notrunc,fsync 2>/dev/null`
      const read = (places: readonly number[]): string =>
        places.map(place => `dd if=/dev/vda bs=65536 skip=${place} count=1 2>/dev/null | head -c 6; echo`).join('; ')
      const expectRounds = async (id: string, from: number, to: number): Promise<void> => {
        const places = Array.from({ length: to - from + 1 }, (_, at) => from + at)
        const lines = (await run(id, read(places))).split('\n').map(line => line.trim())
        expect(lines.filter(line => line !== '')).toEqual(places.map(place => `ROUND${place}`))
      }
      const kept: { readonly id: string; readonly round: number }[] = []
      for (let round = 1; round <= 9; round += 1) {
        if (round % 3 === 2) await bench.waitForReady(() => driver.get(parent))
        await run(parent, write(round))
        const { forks } = await fork({ names: [`round-${round}`] })
        if (round % 3 === 0) kept.push({ id: forks[0].id, round })
        else await remove(forks[0].id)
      }
      await expectRounds(parent, 1, 9)
      for (const { id, round } of kept) {
        await expectRounds(id, 1, round)
        if (round < 9) expect(await run(id, read([round + 1]))).not.toContain('ROUND')
        await remove(id)
      }
      await expectRounds(parent, 1, 9)
    })

    test('a fork cannot fork before its next start, and a machine that is stopped not at all', async () => {
      const { forks } = await fork({})
      expect(forks[0].name).toBe('parent-fork-1')
      const again = await call('POST', '/api/v1/machines/parent-fork-1/fork', { body: {} })
      expect(again).toMatchObject({ status: 409, body: { message: expect.stringContaining('after its next start') } })
      await machines.run(forks[0].id, 'stop', { force: true })
      expect(await call('POST', '/api/v1/machines/parent-fork-1/fork', { body: {} })).toMatchObject({ status: 409 })
      await machines.run(forks[0].id, 'start')
      await bench.waitForGuest(() => driver.get(forks[0].id))
      expect(await run(forks[0].id, readDisk)).toMatch(/SOURCE|PARENT/)
      const { forks: others } = await fork({}, 'parent-fork-1')
      expect(others[0].name).toBe('parent-fork-1-fork-1')
      for (const { id } of [...others, ...forks]) await remove(id)
    })
  })
}
