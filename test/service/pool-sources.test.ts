import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { buildQuickGuest } from '../support/guests/quick-guest.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

interface Pool {
  readonly members: readonly { readonly id: string; readonly state: string }[]
}

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'pools on QEMU', () => {
  test('have forks of a machine that runs, and copies of one that does not run and of a snapshot', async () => {
    using state = newState()
    const kernel = join(state.path, 'attach', 'guest.bin')
    mkdirSync(join(state.path, 'attach'), { recursive: true })
    writeFileSync(kernel, buildQuickGuest())
    const service = await startService({
      state: state.path,
      driver: 'qemu',
      env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
    })
    const token = await service.signIn()
    const ask = async (method: string, path: string, body?: object) => {
      const reply = await service.call(method, `/api/v1${path}`, { token, ...(body && { body }) })
      expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
      return reply.body
    }
    /** Claims a machine of a new pool, and tells whether it booted. */
    const claimFrom = async (from: object): Promise<boolean> => {
      await ask('POST', '/pools', { name: 'ci', from, min: 1, max: 1 })
      await until(async () => {
        const { members }: Pool = await ask('GET', '/pools/ci')
        expect(members).toMatchObject([{ state: 'ready' }])
      })
      const { id, current_state } = await ask('POST', '/pools/ci/claim', {})
      expect(current_state).toBe('running')
      const [{ Home: home }] = await ask('GET', `/machines/${id}`)
      const pid = readFileSync(join(home, 'qemu.pid'), 'utf8')
      const isFork = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('-incoming')
      await ask('DELETE', '/pools/ci')
      await ask('DELETE', `/machines/${id}?force=true`)
      return !isFork
    }
    try {
      await ask('POST', '/machines', { name: 'base', memory: 16, machine_type: 'q35', kernel, disks: [{ size: 1 }] })
      expect(await claimFrom({ machine: 'base' })).toBe(true)
      await ask('PUT', '/machines/base/start')
      expect(await claimFrom({ machine: 'base' })).toBe(false)
      await ask('POST', '/machines/base/snapshots', { snapshot_name: 'clean' })
      await until(async () => expect((await ask('GET', '/machines/base/snapshots')).snapshots).toHaveLength(1))
      expect(await claimFrom({ machine: 'base', snapshot: 'clean' })).toBe(true)
    } finally {
      await service.call('DELETE', '/api/v1/machines/base?force=true', { token })
      await service.stop()
    }
  })
})
