import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import { newFolder } from '../support/folder.ts'
import { findThings, kindsOf, type Send } from '../support/ledger-things.ts'
import { seededRandom } from '../support/random.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'

/** Bits that are flipped in each file of each kind of store. */
const flips = Number(process.env['FLIPS'] ?? 40)
/** A header and a page of the log. */
const frame = 24 + 4096

/** What is read beside the things of all kinds; of the logs less than there was when the service was killed. */
const paths = [
  '/auth/roles',
  '/auth/claims',
  '/jobs',
  '/catalog/pack-first-0',
  '/catalog/pack-second-5',
  '/audit?after=0&limit=100',
  '/events?limit=100',
]

const sendTo =
  (service: Service, token: string): Send =>
  (method, path, body) =>
    service.call(method, `/api/v1${path}`, { token, body })

describe.for([
  ['plain', {}],
  ['encrypted', { VMHOST_STORAGE_PASSWORD: 'a password for the store' }],
] as const)('a service with a flipped bit in its %s store', ([kind, seal]) => {
  const env = { VMHOST_TOKEN_LIFETIME: '86400', VMHOST_ROOT_PASSWORD: rootPassword, ...seal }

  const readAll = async (send: Send): Promise<Record<string, unknown>> => {
    const whole: Record<string, unknown> = { things: Object.fromEntries(await findThings(send)) }
    for (const path of paths) {
      const { status, body } = await send('GET', path)
      whole[path] = status === 200 ? (body.entries ?? body.events ?? body) : `${status} ${body.message}`
    }
    return whole
  }

  /** The state folder of a service that was killed, with a part of what it stored in the log. */
  const killed = async (path: string): Promise<string> => {
    const kernel = join(path, 'attach/guest.bin')
    mkdirSync(dirname(kernel))
    writeFileSync(kernel, demoGuest)
    const kinds = kindsOf(kernel)
    const first = await startService({ state: path, env })
    const token = await first.signIn()
    const fill = async (service: Service, round: string): Promise<void> => {
      const send = sendTo(service, token)
      for (const [name, one] of Object.entries(kinds))
        for (let at = 0; at < 6; at += 1) {
          const { status, body } = await one.make(send, `${name}-${round}-${at}`)
          expect(status, body.message).toBeLessThan(300)
          if (at > 2) await one.change?.(send, `${name}-${round}-${at}`)
        }
    }
    await fill(first, 'first')
    await first.stop()
    const second = await startService({ state: path, env })
    await fill(second, 'second')
    await second.kill()
    return token
  }

  test.for(['store.db', 'store.db-wal'])(`in %s serves nothing that is wrong, in ${flips} cases`, async name => {
    using state = newState()
    const token = await killed(state.path)
    using whole = newFolder()
    for (const one of readdirSync(state.path).filter(other => !/-shm$|\.sock$|^lock/.test(other)))
      cpSync(join(state.path, one), join(whole.path, one), { recursive: true })
    const renew = (): void => {
      for (const one of readdirSync(state.path)) rmSync(join(state.path, one), { recursive: true })
      cpSync(whole.path, state.path, { recursive: true })
    }
    const start = (): Promise<Service> => startService({ state: state.path, env })
    renew()
    const unharmed = await start()
    const good = await readAll(sendTo(unharmed, token))
    await unharmed.kill()

    const random = seededRandom(name.length + kind.length)
    const counts = { refused: 0, same: 0, told: 0 }
    const { size } = statSync(join(whole.path, name))
    for (let round = 0; round < flips; round += 1) {
      renew()
      const file = join(state.path, name)
      const bytes = readFileSync(file)
      // What is in the last page of the log cannot be told from what was never finished.
      const place = Math.floor(random() * (name.endsWith('-wal') ? size - frame : size))
      bytes[place]! ^= 1 << Math.floor(random() * 8)
      writeFileSync(file, bytes)
      const service = await start().catch((error: Error) => error)
      if (service instanceof Error) {
        expect(service.message, `byte ${place}`).toMatch(/ended with 1: .*(damaged|cannot be read|is not as)/s)
        expect(readFileSync(file).equals(bytes), `byte ${place}`).toBe(true)
        counts.refused += 1
        continue
      }
      const seen = await readAll(sendTo(service, token))
      let told = false
      for (const [path, value] of Object.entries(seen)) {
        told ||= typeof value === 'string'
        if (typeof value === 'string') expect(value, `byte ${place}, ${path}`).toMatch(/^500 .* is (damaged|malformed)/)
        else expect(value, `byte ${place}, ${path}`).toEqual(good[path])
      }
      counts[told ? 'told' : 'same'] += 1
      await service.kill()
    }
    console.log(`${kind} ${name} (${size} bytes): ${flips} flips, ${JSON.stringify(counts)}`)
    expect(counts.refused).toBeGreaterThan(0)
  })
})
