import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildGuest } from '#lib/hypervisor/guest/guest.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'

const rounds = Number(process.env['LEDGER_ROUNDS'] ?? 10)

interface Machine {
  readonly Name: string
  readonly Description: string
}

/** What each machine and key must be: a machine's description, `key`, or gone. With a request under way at the kill, either of two. */
type Entry = { readonly certain: string | undefined; readonly perhaps?: string | undefined; readonly open?: true }

test(
  `${rounds} kills under load lose no acknowledged write`,
  async () => {
    using state = newState()
    const kernel = join(state.path, 'guest.bin')
    writeFileSync(kernel, buildGuest())
    const ledger = new Map<string, Entry>()
    const env = { VMHOST_DEMO: 'off' }
    const first = await startService({ state: state.path, env: { ...env, VMHOST_ROOT_PASSWORD: rootPassword } })
    const token = await first.signIn()
    await first.kill()

    /** Sends a change of one machine and writes down what came of it. */
    const change = async (name: string, to: string | undefined, send: () => Promise<{ status: number }>) => {
      const certain = ledger.get(name)?.certain
      ledger.set(name, { certain, perhaps: to, open: true })
      const { status } = await send()
      expect(status).toBeLessThan(300)
      ledger.set(name, { certain: to })
    }
    const work = async (service: Service, worker: number, round: number): Promise<void> => {
      for (let step = 0; ; step += 1) {
        const name = `m-${round}-${worker}-${step}`
        await change(name, '', () =>
          service.call('POST', '/api/v1/machines', { token, body: { name, memory: 16, kernel } }),
        )
        const operations = [{ group: 'description', operation: 'set', value: `d${step}` }]
        await change(name, `d${step}`, () =>
          service.call('PUT', `/api/v1/machines/${name}/set`, { token, body: { operations } }),
        )
        const key = `key of ${name}`
        await change(key, 'key', () => service.call('POST', '/api/v1/auth/api_keys', { token, body: { name: key } }))
        if (step % 3 === 0) continue
        await change(name, undefined, () => service.call('DELETE', `/api/v1/machines/${name}`, { token }))
        await change(key, undefined, () =>
          service.call('DELETE', `/api/v1/auth/api_keys/${encodeURIComponent(key)}`, { token }),
        )
      }
    }
    const compare = async (service: Service): Promise<void> => {
      const machines = (await service.call('GET', '/api/v1/machines', { token })).body as Machine[]
      const keys = (await service.call('GET', '/api/v1/auth/api_keys', { token })).body as { name: string }[]
      const found = new Map([
        ...machines.map(({ Name, Description }) => [Name, Description] as const),
        ...keys.map(({ name }) => [name, 'key'] as const),
      ])
      for (const [name, { certain, perhaps, open }] of ledger) {
        const seen = found.get(name)
        if (open) expect([certain, perhaps], name).toContain(seen)
        else expect(seen, name).toBe(certain)
        if (seen === undefined) ledger.delete(name)
        else ledger.set(name, { certain: seen })
        found.delete(name)
      }
      expect([...found.keys()]).toEqual([])
    }

    let acknowledged = 0
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService({ state: state.path, env })
      await compare(service)
      const before = ledger.size
      const workers = [1, 2, 3, 4].map(worker => work(service, worker, round).catch(() => {}))
      await new Promise(resolve => setTimeout(resolve, 20 + ((round * 37) % 160)))
      await service.kill()
      await Promise.all(workers)
      acknowledged += ledger.size - before
    }
    const last = await startService({ state: state.path, env })
    await compare(last)
    expect(await last.stop()).toBe(0)
    expect(acknowledged).toBeGreaterThan(rounds)
  },
  rounds * 10_000,
)
