import { setImmediate as nextTurn } from 'node:timers/promises'
import { createStorage } from 'unstorage'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { StableState } from '#lib/hypervisor/driver.ts'
import type { PoolMachines } from '#lib/pools/member-work.ts'
import { openPools, type Pools } from '#lib/pools/pools.ts'
import { Member } from '#lib/pools/stored.ts'
import { createStore } from '#lib/storage/create-store.ts'
import type { Store } from '#lib/storage/store.ts'

/** A machine that outlives the service. */
interface Machine {
  readonly name: string
  state: StableState
  owner?: string
}

/** One run of the service, which is killed at one of its steps: before or after a commit or an act on a machine. */
export interface Run {
  readonly pools: Pools
  /** Resolves when it was killed; from then on nothing of it happens any more. */
  readonly killed: Promise<void>
  /** Has what is done each second done, once. */
  tick(): void
  /** Deletes a machine, as its owner does. */
  remove(id: string): Promise<void>
}

/** A host whose machines and stored documents outlive the service on it. */
export interface MortalHost {
  readonly machines: ReadonlyMap<string, Machine>
  /** Starts the service; it is killed at the step of this number. */
  start(lastStep: number): Promise<Run>
  /** The stored members. */
  readMembers(): Promise<readonly Member[]>
  /** The probability with which a machine cannot be made. */
  failureRate: number
}

/** A step of a run that was killed never ends. */
const forever = new Promise<never>(() => {})

export const createMortalHost = (random: () => number): MortalHost => {
  const storage = createStorage()
  const machines = new Map<string, Machine>()

  const host: MortalHost = {
    machines,
    failureRate: 0,
    async readMembers() {
      // What a killed run had begun to write is written.
      await nextTurn()
      const store = await createStore(storage)
      return store.collection('pool-members', Member).list()
    },
    async start(lastStep) {
      const { promise: killed, resolve: kill } = Promise.withResolvers<void>()
      let steps = 0
      const step = async (): Promise<void> => {
        steps += 1
        if (steps >= lastStep) kill()
        if (steps >= lastStep) await forever
        await Promise.resolve()
      }
      /** An effect, with a possible end of the run before it and after it. */
      const act = async <T>(effect: () => T | Promise<T>): Promise<T> => {
        await step()
        const result = await effect()
        await step()
        return result
      }
      const watchers = new Set<() => void>()
      const change = (effect: () => void): Promise<void> =>
        act(() => {
          effect()
          for (const notify of watchers) notify()
        })
      const find = (id: string): Machine => {
        const machine = machines.get(id)
        if (!machine) throw new ServiceError('not-found', 'gone')
        return machine
      }
      const remove = (id: string): Promise<void> =>
        change(() => {
          find(id)
          machines.delete(id)
        })
      const calls: PoolMachines = {
        members: {
          plan: async (_, request) => request,
          async make({ id, name }, _, signal) {
            await change(() => void machines.set(id, { name, state: 'stopped' }))
            signal.throwIfAborted()
            if (random() < host.failureRate) throw new ServiceError('no-space', 'The disk is full.')
            await change(() => void (find(id).state = 'running'))
            signal.throwIfAborted()
          },
          handOver: (id, { owner }) => change(() => void (find(id).owner = owner)),
          find(id) {
            const machine = machines.get(id)
            return machine && { state: machine.state, owner: machine.owner }
          },
          watch(onChange) {
            watchers.add(onChange)
            return { [Symbol.dispose]: () => void watchers.delete(onChange) }
          },
        },
        remove: id => remove(id),
        showStatus: id => ({ id, status: find(id).state, ip_configured: '-' }),
        show: () => ({}),
      }
      const store = await createStore(storage)
      const mortal: Store = Object.assign(Object.create(store), {
        commit: (...args: Parameters<Store['commit']>) => act(() => store.commit(...args)),
      })
      const log = mortal.log('events', z.object({ message: z.string() }))
      const ticks: (() => void)[] = []
      const pools = await openPools({
        store: mortal,
        publish: ({ message }) => log.append(() => ({ message })),
        machines: calls,
        every(_, work) {
          ticks.push(work)
          return { [Symbol.dispose]() {} }
        },
        onFailed() {},
      })
      return { pools, killed, tick: () => ticks.forEach(work => work()), remove }
    },
  }
  return host
}
