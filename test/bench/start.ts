import { rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { median } from './load.ts'
import { residentMemory, type Server, startBare, startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { differenceRow, type Row } from './table.ts'

const rounds = 7

const timeToReply = async (start: () => Promise<Server>, path: string): Promise<number> => {
  const begun = performance.now()
  const server = await start()
  await (await fetch(`http://127.0.0.1:${server.port}${path}`)).arrayBuffer()
  const taken = performance.now() - begun
  await server.stop()
  return taken
}

/** How long the program takes to its first reply, and how much memory it holds with 1,000 machines, against Node alone. */
export const startRows = async (): Promise<readonly Row[]> => {
  const empty = stateWith(0)
  const sealed = stateWith(0)
  const many = stateWith(1_000)
  try {
    const taken = { vmhost: [] as number[], sealed: [] as number[], bare: [] as number[] }
    const password = { VMHOST_STORAGE_PASSWORD: 'a password for the store' }
    for (let round = 0; round <= rounds; round += 1) {
      const vmhost = await timeToReply(() => startVmhost(empty), '/api/health/probe')
      const encrypted = await timeToReply(() => startVmhost(sealed, password), '/api/health/probe')
      const bare = await timeToReply(startBare, '/')
      // The first start makes the key and root's password.
      if (round > 0) {
        taken.vmhost.push(vmhost)
        taken.sealed.push(encrypted)
        taken.bare.push(bare)
      }
    }
    await (await startVmhost(many)).stop()
    const [vmhost, bare] = await Promise.all([startVmhost(many), startBare()])
    await wait(2_000)
    const memory = { measured: residentMemory(vmhost.pid), floor: residentMemory(bare.pid), unit: 'MB', digits: 0 }
    await Promise.all([vmhost.stop(), bare.stop()])
    return [
      differenceRow(
        'first reply after the start',
        { measured: median(taken.vmhost), floor: median(taken.bare), unit: 'ms', digits: 0 },
        70,
      ),
      // Most of it is making the key out of the password, which has to take its time.
      differenceRow(
        'the same with an encrypted store',
        { measured: median(taken.sealed), floor: median(taken.bare), unit: 'ms', digits: 0 },
        700,
      ),
      differenceRow('memory with 1,000 machines known', memory, 40),
    ]
  } finally {
    for (const state of [empty, sealed, many]) rmSync(state, { recursive: true })
  }
}
