import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { seededRandom } from '../../support/random.ts'
import { rounds } from '../../support/rounds.ts'
import { createMortalHost, type MortalHost, type Run } from '../../support/pools/mortal-host.ts'

const kills = rounds(2_000, 10_000)
/** The most steps of a run. A whole claim with all that follows has about twenty. */
const mostSteps = 60

const user = (name: string): Principal => ({
  id: name,
  username: name,
  email: '',
  roles: [],
  claims: new Set(['UPDATE_VM_STATES']),
  superUser: false,
})

const definition = { from: { machine: 'base' }, template: {}, min: 2, max: 5, idle_ttl: 20 }

/** Somebody who claims machines, uses them and deletes them, and repeats what a kill has left without an answer. */
interface Claimer {
  readonly user: Principal
  /** The key of the claim that has had no answer yet. */
  key: string
  /** The machine that the last claim has got. */
  machine: string | undefined
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test(`${kills} kills at any step of the journal: no claim is lost, no machine is given twice, nothing is left over`, async () => {
  const random = seededRandom(1)
  const host: MortalHost = createMortalHost(random)
  const claimers: readonly Claimer[] = ['ann', 'bob', 'cyn'].map(name => ({
    user: user(name),
    key: `${name}-0`,
    machine: undefined,
  }))
  /** To whom each machine was given, by all claims that were answered. */
  const given = new Map<string, string>()
  let claims = 0
  let interrupted = 0

  const claimOnce = async (run: Run, claimer: Claimer, signal: AbortSignal): Promise<void> => {
    const { key } = claimer
    const options = { timeout: 60, key, signal, reauthenticate: async () => claimer.user }
    const { id } = await run.pools.claim(claimer.user, 'ci', {}, options)
    if (signal.aborted) return
    expect(given.get(id) ?? key, 'given twice').toBe(key)
    given.set(id, key)
    claims += 1
    claimer.machine = id
    claimer.key = `${claimer.user.id}-${claims}`
  }
  const live = async (run: Run, claimer: Claimer, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      if (claimer.machine === undefined) await claimOnce(run, claimer, signal)
      else {
        const { machine } = claimer
        if (host.machines.has(machine)) await run.remove(machine)
        claimer.machine = undefined
      }
      await nextTurn()
    }
  }
  const check = async (): Promise<void> => {
    const members = await host.readMembers()
    const known = new Set(members.map(({ id }) => id))
    expect(
      [...host.machines.keys()].filter(id => !known.has(id)),
      'machines of nobody',
    ).toEqual([])
    expect(members.length, 'more than the maximum').toBeLessThanOrEqual(definition.max)
    for (const { user: owner, machine } of claimers)
      if (machine !== undefined && host.machines.has(machine))
        expect(host.machines.get(machine)).toMatchObject({ owner: owner.id })
    interrupted += members.filter(({ id, claim }) => claim && host.machines.get(id)?.owner === undefined).length
  }
  const play = async (lastStep: number): Promise<void> => {
    const run = await host.start(lastStep)
    const ended = new AbortController()
    if (run.pools.list().length === 0) void run.pools.create(claimers[0]!.user, { name: 'ci', ...definition })
    else for (const claimer of claimers) void live(run, claimer, ended.signal).catch(error => failures.push(error))
    const failures: unknown[] = []
    const isOver = run.killed.then(() => true)
    // The clock goes on, so that machines become too old and what has failed is tried again.
    while (!(await Promise.race([isOver, nextTurn(false)]))) {
      vi.setSystemTime(Date.now() + 300)
      run.tick()
      if (random() < 0.02)
        void run.pools
          .update(claimers[0]!.user, 'ci', { ...definition, template: { labels: { version: String(claims) } } })
          .catch(() => {})
    }
    ended.abort()
    for (const error of failures) expect(error, String(error)).toMatchObject({ name: 'AbortError' })
    await check()
  }

  /** A run that nobody kills and nobody claims from completes all by itself. */
  const settle = async (): Promise<Run> => {
    host.failureRate = 0
    const run = await host.start(Infinity)
    for (let turn = 0; turn < 100; turn += 1) {
      vi.setSystemTime(Date.now() + 50)
      run.tick()
      await nextTurn()
    }
    const members = await host.readMembers()
    expect(new Set(host.machines.keys())).toEqual(new Set(members.map(({ id }) => id)))
    for (const { id, state, claim } of members) {
      expect(['ready', 'claimed']).toContain(state)
      expect(host.machines.get(id)).toMatchObject({ state: 'running', ...(claim && { owner: claim.user }) })
    }
    return run
  }

  for (let kill = 0; kill < kills; kill += 1) {
    host.failureRate = kill % 10 === 0 ? 0.2 : 0
    await play(1 + Math.floor(random() * mostSteps))
    if (kill % 100 === 0) await (await settle()).pools.close()
  }
  // In the end everybody has an answer, and the pool has what it should have.
  const run = await settle()
  for (const claimer of claimers)
    // The last kill may have come after the machine of a claim was removed.
    if (claimer.machine === undefined || !host.machines.has(claimer.machine))
      await claimOnce(run, claimer, new AbortController().signal)
  for (let turn = 0; turn < 100; turn += 1) await nextTurn()
  const states = run.pools.show('ci').members.map(({ state }) => state)
  expect(states.toSorted()).toEqual(['claimed', 'claimed', 'claimed', 'ready', 'ready'])
  expect(host.machines.size).toBe(5)
  console.log(`${kills} kills, ${claims} claims answered, ${interrupted} found half-done and completed`)
  expect(interrupted).toBeGreaterThan(kills / 100)
  expect(claims).toBeGreaterThan(kills / 10)
  await run.pools.close()
})
