import { expect, test } from 'vitest'
import { findChainBreak } from '#lib/audit/entry.ts'
import type { AuditRecord } from '#lib/audit/schemas.ts'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { rounds } from '../../support/rounds.ts'
import { rootPassword, startService } from '../../support/service.ts'
import { until } from '../../support/waiting.ts'

const encrypted = ['encrypted', { VMHOST_STORAGE_PASSWORD: 'a password for the store' }] as const

// An encrypted store does all that a plain one does.
test.skipIf(!canMount).for(rounds([encrypted], [encrypted, ['plain', {}] as const]))(
  'on a full disk the service refuses changes until there is room, still revokes rights, and keeps the audit complete (%s store; needs the right to mount)',
  async ([, seal]) => {
    using disk = newSmallDisk(64)
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, ...seal }
    const service = await startService({ state: disk.path, env })
    try {
      const [token, other] = [await service.signIn(), await service.signIn()]
      const acknowledged = new Set<string>()
      const call = async (method: string, path: string, body?: object) => {
        const answer = await service.call(method, `/api/v1${path}`, { token, ...(body && { body }) })
        if (method !== 'GET' && answer.status < 300) acknowledged.add(answer.headers.get('x-request-id')!)
        return answer
      }
      const user = (name: string): object => ({
        username: name,
        name,
        email: `${name}@example.test`,
        password: rootPassword,
      })
      const health = async (): Promise<string> => JSON.stringify((await call('GET', '/health/system')).body)
      const entries = async (): Promise<AuditRecord[]> =>
        (await call('GET', '/audit?after=0&limit=1000')).body.entries as AuditRecord[]
      expect((await call('POST', '/auth/users', user('jane'))).status).toBe(201)
      const key = (await call('POST', '/auth/api_keys', { name: 'farm' })).body
      expect((await call('POST', '/auth/claims', { name: 'TEAM_A' })).status).toBe(201)
      const demo = (await call('GET', '/machines')).body[0].ID as string

      // The program that fills the disk goes on, so released space is used up at once.
      disk.fill()
      const refused: string[] = []
      for (let at = 0; refused.length < 3; at += 1) {
        const name = `user${at}`
        const { status } = await call('POST', '/auth/users', user(name))
        if (status === 201) continue
        expect(status).toBe(507)
        refused.push(name)
      }
      disk.fill()
      expect(await health()).toContain('its disk is full')
      // The public health probe shows that the host takes no changes.
      const probe = async () => service.call('GET', '/api/health/probe')
      expect(await probe()).toMatchObject({ status: 503, body: { code: 503 } })

      // Revocations and deletions work, and the audit has an entry that says who deleted the machine.
      expect((await service.call('DELETE', '/api/v1/auth/token', { token: other })).status).toBe(202)
      expect((await service.call('GET', '/api/v1/machines', { token: other })).status).toBe(401)
      expect((await call('PUT', `/auth/api_keys/${key.id}/revoke`)).status).toBe(202)
      expect((await call('DELETE', '/auth/users/jane/roles/USER')).status).toBe(202)
      expect((await call('DELETE', '/auth/claims/TEAM_A')).status).toBe(202)
      // A new name revokes nothing; a new password does.
      expect((await call('PUT', '/auth/users/jane', { name: 'Jane' })).status).toBe(507)
      expect((await call('PUT', '/auth/users/jane', { password: `${rootPassword}-2` })).status).toBe(202)
      expect((await call('DELETE', `/machines/${demo}?force=true`)).status).toBe(202)
      expect((await call('POST', '/auth/token', { username: 'root', password: 'a wrong password' })).status).toBe(401)
      expect(await service.signIn()).toBeTruthy()

      disk.empty()
      await until(async () => expect((await call('POST', '/auth/users', user('after'))).status).toBe(201))
      expect((await probe()).status).toBe(200)
      // The result of a health check is cached for a second.
      await until(async () => expect(await health()).not.toContain('its disk is full'))
      const { events } = (await call('GET', '/events?types=pdfm')).body as { events: { message: string }[] }
      expect(events.at(-1)!.message).toBe('VM_REMOVED')
      const all = await entries()
      expect(all.map((entry, at) => findChainBreak(all[at - 1], entry)).filter(Boolean)).toEqual([])
      const done = all.filter(({ outcome }) => outcome === 'done').map(({ operation }) => operation)
      expect(done.slice(done.indexOf('auth/sign-out'))).toEqual([
        'auth/sign-out',
        'auth/revoke-api-key',
        'users/take-role',
        'claims/delete',
        'users/update',
        'machines/delete',
        'auth/sign-in',
        'users/create',
      ])
      expect(acknowledged.size).toBeGreaterThan(5)
      expect(
        [...acknowledged].filter(id => !all.some(entry => entry.request_id === id && entry.outcome === 'done')),
      ).toEqual([])
      expect(all.filter(({ outcome, status }) => outcome === 'failed' && status === 507)).toHaveLength(4)
      expect(all.filter(({ operation, status }) => operation === 'auth/sign-in' && status === 401)).toHaveLength(1)

      await service.kill()
      const again = await startService({ state: disk.path, env })
      const names = (await again.call('GET', '/api/v1/auth/users', { token: await again.signIn() })).body.map(
        ({ username }: { username: string }) => username,
      )
      expect(names).toEqual(expect.arrayContaining(['root', 'jane', 'after']))
      for (const name of refused) expect(names).not.toContain(name)
      await again.stop()
    } finally {
      await service.kill().catch(() => undefined)
    }
  },
)
