import { createStorage } from 'unstorage'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { every } from '#lib/async/every.ts'
import { type Audit, openAudit } from '#lib/audit/audit.ts'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import type { AuditFacts } from '#lib/audit/entry.ts'
import { ServiceError } from '#lib/errors.ts'
import { withAudit } from '#lib/http/audit.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { FetchContext } from '#lib/http/fetch-context.ts'
import { createStore, type CreatedStore } from '#lib/storage/create-store.ts'
import { createFailingDriver, type FailingDriver } from '../../support/drivers/failing-driver.ts'
import { type Ask, askOf, newIdentity, rootPassword as password } from '../../support/identity.ts'
import { until } from '../../support/waiting.ts'

describe('an audit that cannot be written', () => {
  let driver: FailingDriver
  let store: CreatedStore
  let audit: Audit
  let ask: Ask
  const error = vi.fn<(message: string, fields?: Record<string, unknown>) => void>()

  beforeEach(async () => {
    driver = createFailingDriver()
    store = await createStore(createStorage({ driver }))
    audit = openAudit({ store, log: { error }, every, retention: { days: 400, entries: 1_000 } })
    ask = askOf(await newIdentity({ store }), audit)
  })
  afterEach(async () => {
    driver.fail = () => {}
    await audit.close()
    error.mockClear()
  })

  const signIn = () => ask('POST', '/auth/token', { body: { username: 'root', password } })
  const operations = async (): Promise<readonly string[]> =>
    (await audit.readPage({ after: 0, limit: 100 })).entries.map(({ operation, outcome }) => `${operation} ${outcome}`)
  const facts: AuditFacts = {
    at: new Date(0).toISOString(),
    request_id: 'r',
    address: 'local',
    operation: 'machines/delete',
    method: 'DELETE',
    outcome: 'done',
    status: 202,
  }

  test('changes are refused when the store cannot be written', async () => {
    driver.fail = () => {
      throw new Error('the disk is gone')
    }
    const { token } = (await signIn()).body
    // The first change was made before the failure was known: its entry is in the service's log, and health reports it.
    expect(error).toHaveBeenCalledWith(
      expect.stringContaining('is not written to the audit yet'),
      expect.objectContaining({ entry: expect.objectContaining({ operation: 'auth/sign-in', username: 'root' }) }),
    )
    expect(audit.failure()).toContain('1 entries could not be written yet')
    expect(await signIn()).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('Nothing was done') },
    })
    // Reads are not affected.
    expect((await ask('GET', '/auth/users', { token })).status).toBe(200)
  })

  test('changes are refused when there is no room for their entry, in jobs too', async () => {
    driver.hasRoom = false
    expect((await signIn()).status).toBe(503)
    const perform = vi.fn<() => unknown>()
    const route = { id: 'machines/delete', endpoint: { effect: 'change' } } as Route
    const request = new Request('https://host.example.test/', { method: 'DELETE' })
    const context = new FetchContext(request, { address: '' }, { route, params: undefined })
    const work = withAudit(createHttpAudit(audit), context, perform)
    await expect(work({} as Parameters<typeof work>[0])).rejects.toMatchObject({ fault: 'unavailable' })
    expect(perform).not.toHaveBeenCalled()
    driver.hasRoom = true
    expect((await signIn()).status).toBe(200)
    expect(await operations()).toEqual(['auth/sign-in failed', 'machines/delete failed', 'auth/sign-in done'])
  })

  test('entries that found no room are written later, and refusals do not use the space of changes', async () => {
    driver.fail = essential => {
      if (!essential) throw new ServiceError('no-space', 'full')
    }
    expect((await ask('GET', '/auth/users')).status).toBe(401)
    await until(() => expect(audit.failure()).toContain('1 entries'))
    await audit.record(facts)
    driver.fail = () => {
      throw new ServiceError('no-space', 'full')
    }
    await audit.record({ ...facts, operation: 'machines/start' })
    expect(audit.failure()).toContain('2 entries')
    driver.fail = () => {}
    await until(() => expect(audit.failure()).toBeUndefined())
    expect(await operations()).toEqual(['machines/delete done', 'machines/start done', 'users/list refused'])
  })
})
