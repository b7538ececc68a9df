import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import { openAudit } from '#lib/audit/audit.ts'
import type { AuditFacts } from '#lib/audit/entry.ts'
import { every } from '#lib/async/every.ts'
import { createStore } from '#lib/storage/create-store.ts'
import { createFailingDriver } from '../../support/drivers/failing-driver.ts'
import { until } from '../../support/waiting.ts'

// A change that was made while the refusals before it were being written had its entry in between them.
test('the entry of a change comes after those of all refusals before it', async () => {
  const driver = createFailingDriver()
  const store = await createStore(createStorage({ driver }))
  const audit = openAudit({ store, log: { error: expect.fail }, every, retention: { days: 1, entries: 100 } })
  const facts: AuditFacts = {
    at: new Date(0).toISOString(),
    request_id: 'change',
    address: 'local',
    operation: 'machines/delete',
    method: 'DELETE',
    outcome: 'done',
    status: 202,
  }
  const refusals = Array.from({ length: 9 }, (_, at) => `refusal ${at}`)
  for (const id of refusals) await audit.record({ ...facts, request_id: id, outcome: 'refused', status: 403 })

  let change: Promise<void> | undefined
  driver.fail = () => {
    driver.fail = () => {}
    change = audit.record(facts)
  }
  await until(() => expect(change).toBeDefined())
  await change
  await audit.close()
  const { entries } = await audit.readPage({ after: 0, limit: 100 })
  expect(entries.map(entry => entry.request_id)).toEqual([...refusals, 'change'])
})
