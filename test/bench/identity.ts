import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { createPasswords } from '#lib/auth/passwords.ts'
import { createThreadHasher } from '#lib/auth/thread-hasher.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { lockoutPolicy, newIdentity, rootPassword } from '../support/identity.ts'
import { latencies } from './http.ts'
import { median, percentile } from './load.ts'
import { startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { ratioRow, type Row } from './table.ts'

const tries = 200
const rounds = 5

/** How long a refused sign-in takes, for somebody who exists and for somebody who does not, turn by turn. */
const timingRow = async (): Promise<Row> => {
  const passwords = createPasswords({
    hasher: createThreadHasher(createStartWorker(new URL('../../lib/entry/main.ts', import.meta.url))),
    // Cheap, so that everything but the hash counts.
    method: { kind: 'bcrypt', cost: 6 },
  })
  const lockout = { ...lockoutPolicy, attempts: 0, addressAttempts: 0 }
  const { services } = await newIdentity({ store: await createMemoryStore(), passwords, lockout })
  const taken = { root: [] as number[], nobody: [] as number[] }
  for (let at = -20; at < tries; at += 1)
    for (const name of ['root', 'nobody'] as const) {
      const begun = performance.now()
      await services.signIn({ username: name, password: 'wrong' }, '192.0.2.1').catch(() => undefined)
      if (at >= 0) taken[name].push((performance.now() - begun) * 1000)
    }
  await passwords.close()
  const [known, unknown] = [median(taken.root), median(taken.nobody)]
  const figures = { measured: Math.max(known, unknown), floor: Math.min(known, unknown), unit: 'µs' }
  return ratioRow(`sign-in refused: unknown user or wrong password, ${tries} each`, figures, { most: 1.05 })
}

/** What others notice of 1,000 wrong passwords from 100 addresses. */
const attackRow = async (): Promise<Row> => {
  const state = stateWith(10)
  const server = await startVmhost(state, {
    VMHOST_ROOT_PASSWORD: rootPassword,
    VMHOST_TRUSTED_PROXIES: '127.0.0.0/8',
  })
  try {
    const origin = `http://127.0.0.1:${server.port}/api/v1`
    const signIn = (password: string, address: string): Promise<Response> =>
      fetch(`${origin}/auth/token`, {
        method: 'POST',
        headers: { 'x-forwarded-for': address },
        body: JSON.stringify({ username: 'root', password }),
      })
    const { token } = (await (await signIn(rootPassword, '198.51.100.1')).json()) as { token: string }
    const headers = { authorization: `Bearer ${token}` }
    const url = `${origin}/machines/machine-5/status`
    await latencies(url, headers, 1_000)
    const seen = { quiet: [] as number[], attacked: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      seen.quiet.push(percentile(await latencies(url, headers, 2_000), 0.99))
      const attack = spawn(process.execPath, [resolve('test/bench/attack.ts'), String(server.port), '1000'])
      const ended = new Promise(settle => attack.once('exit', settle))
      seen.attacked.push(percentile(await latencies(url, headers, 2_000), 0.99))
      await ended
    }
    const [quiet, attacked] = [median(seen.quiet), median(seen.attacked)]
    const figures = { measured: attacked, floor: quiet, unit: 'ms', digits: 2 }
    return ratioRow('p99 of GETs during 1,000 wrong passwords in 2 s', figures, { most: 2 })
  } finally {
    await server.stop()
    rmSync(state, { recursive: true })
  }
}

export const identityRows = async (): Promise<readonly Row[]> => [await timingRow(), await attackRow()]
