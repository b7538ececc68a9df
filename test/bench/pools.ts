import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askAs } from './ask.ts'
import { median } from './load.ts'
import { startVmhost } from './processes.ts'
import { limitRow, type Row } from './table.ts'
import { pause } from '../support/waiting.ts'

const password = 'Correct-Horse-9-Battery'
const claims = 40
const ready = 3

interface Pool {
  readonly members: readonly { readonly state: string }[]
}

/** How long a claim of a machine that is ready takes, beside the start of a machine of the same kind. */
export const poolRows = async (): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  const server = await startVmhost(folder, { VMHOST_ROOT_PASSWORD: password, VMHOST_DRIVER: 'qemu', VMHOST_DEMO: 'on' })
  const ask = await askAs(server, password)
  const time = async (work: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    await work()
    return performance.now() - begun
  }
  /** Settles when the pool has all that it wants and makes nothing, so that a claim is measured alone. */
  const waitForReady = async (): Promise<void> => {
    for (;;) {
      const { members } = await ask<Pool>('GET', '/pools/bench')
      if (members.length === ready && members.every(({ state }) => state === 'ready')) return
      await pause(20)
    }
  }
  try {
    await ask('POST', '/pools', { name: 'bench', from: { machine: 'demo' }, min: ready, max: ready })
    const taken: number[] = []
    const starts: number[] = []
    for (let at = 0; at < claims; at += 1) {
      await waitForReady()
      let id = ''
      taken.push(
        await time(async () => {
          ;({ id } = await ask<{ id: string }>('POST', '/pools/bench/claim', {}))
        }),
      )
      await ask('DELETE', `/machines/${id}?force=true`)
    }
    await ask('DELETE', '/pools/bench')
    for (let at = 0; at < 10; at += 1) {
      await ask('PUT', '/machines/demo/clone?linked=true', { clone_name: 'one' })
      starts.push(await time(() => ask('PUT', '/machines/one/start')))
      await ask('DELETE', '/machines/one?force=true')
    }
    const figures = { measured: median(taken), floor: median(starts), unit: 'ms' }
    return [limitRow('a claim of a ready machine; as floor, a start', figures, 50)]
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}
