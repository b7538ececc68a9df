import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import { createLedger } from '../support/ledger.ts'
import { findThings, kindsOf, type Send } from '../support/ledger-things.ts'
import { rounds } from '../support/rounds.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { pause, until } from '../support/waiting.ts'

const [plainKills, sealedKills] = rounds([4, 2], [67, 33])
/** Rounds after which what is left of one is removed, so that the state does not grow with the rounds. */
const kept = 12

test.for([
  ['plain', plainKills, {}],
  ['encrypted', sealedKills, { VMHOST_STORAGE_PASSWORD: 'a password for the store' }],
] as const)(
  'kills under load lose no acknowledged write and no audit entry of one (%s store, %s kills)',
  { timeout: 60_000 + plainKills * 30_000 },
  async ([name, kills, seal]) => {
    using state = newState()
    const kernel = join(state.path, 'attach/guest.bin')
    mkdirSync(dirname(kernel))
    writeFileSync(kernel, demoGuest)
    const kinds = kindsOf(kernel)
    const kindNames = Object.keys(kinds)
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_TOKEN_LIFETIME: '86400', ...seal }
    const first = await startService({ state: state.path, env })
    const token = await first.signIn()
    await first.kill()

    const ledger = createLedger()
    const sendTo =
      (service: Service): Send =>
      (method, path, body) =>
        service.call(method, `/api/v1${path}`, { token, body })
    const kindOf = (thing: string) => kinds[thing.split('-')[0]!]!
    const remove = (send: Send, thing: string): Promise<void> =>
      ledger.change(thing, undefined, () => kindOf(thing).remove(send, thing))
    const work = async (send: Send, worker: number, round: number): Promise<void> => {
      if (worker === 0)
        for (const thing of ledger.things()) if (Number(thing.split('-')[1]) < round - kept) await remove(send, thing)
      for (let step = 0; ; step += 1) {
        const thing = `${kindNames[(worker + round + step) % kindNames.length]}-${round}-${worker}-${step}`
        const kind = kindOf(thing)
        await ledger.change(thing, kind.made, () => kind.make(send, thing))
        if (kind.change) await ledger.change(thing, kind.changed, () => kind.change!(send, thing))
        if (step % 3 > 0) await remove(send, thing)
      }
    }
    const compare = async (service: Service): Promise<void> => {
      const send = sendTo(service)
      // A push that was cut off goes on by itself.
      await until(async () => {
        for (const job of (await send('GET', '/jobs')).body) expect(['completed', 'failed']).toContain(job.state)
      })
      const found = await findThings(send)
      const machines = readdirSync(join(state.path, 'machines/embedded'))
      const named = [...found.keys()].filter(thing => /^(machine|clone)-/.test(thing))
      expect([
        ...ledger.compare(found),
        ...(await ledger.compareAudit(async seq => (await send('GET', `/audit?after=${seq}&limit=1000`)).body)),
      ]).toEqual([])
      // Beside the demo machine.
      expect(machines).toHaveLength(named.length + 1)
    }

    const { counts } = ledger
    for (let round = 0; round < kills; round += 1) {
      const service = await startService({ state: state.path, env })
      await compare(service)
      const enough = counts.acknowledged + 1 + ((round * 7) % 40)
      const workers = [0, 1, 2, 3].map(worker => work(sendTo(service), worker, round).catch(() => {}))
      const over = Promise.all(workers).then(() => true)
      while (counts.acknowledged < enough) if (await Promise.race([over, pause(2)])) break
      await pause((round * 37) % 80)
      await service.kill()
      await over
    }
    const last = await startService({ state: state.path, env })
    await compare(last)
    // A deletion that was cut off may have taken the bytes already; of these none was asked for.
    const packs = ledger.things().filter(thing => /^pack-.*-0$/.test(thing))
    for (const catalog_id of packs.slice(-3)) {
      const body = { catalog_id, version: '1', machine_name: `pulled ${catalog_id}` }
      expect((await sendTo(last)('PUT', '/catalog/pull', body)).status).toBe(200)
    }
    expect(await last.stop()).toBe(0)
    console.log(`${name} store, ${kills} kills: ${JSON.stringify(counts)}, ${ledger.things().length} things at the end`)
    expect(counts.acknowledged).toBeGreaterThanOrEqual(kills)
    expect(counts.audited).toBe(counts.acknowledged)
  },
)
