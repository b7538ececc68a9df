import { expect, test, vi } from 'vitest'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { openControl } from '../../support/hosts/control.ts'
import { openClient } from '../../support/hosts/control-client.ts'
import { until } from '../../support/waiting.ts'

const id = crypto.randomUUID()

test.each([
  ['machines', 'POST', '/machines', { name: 'web', memory: 64, user_data: 'hush' }],
  ['commands', 'PUT', '/machines/web/execute?host=one', { command: 'true', input: 'hush' }],
])('what is secret in a job of %s on a host is not stored by its control', async (_, method, path, body) => {
  const sent: string[] = []
  const store = await createMemoryStore()
  const commit = vi.spyOn(store, 'commit')
  await using control = await openControl({
    store,
    async fetch(url, { body: content } = {}) {
      sent.push(JSON.stringify(content))
      if (url.includes('/jobs/')) return Response.json({ id, state: 'running' })
      return Response.json({ id, state: 'running' }, { status: 202, headers: { location: `/api/v1/jobs/${id}` } })
    },
  })
  const client = await openClient(control.app)
  const { body: host } = await client.asRoot('POST', '/hosts', { name: 'one', url: 'https://one.example.test' })
  await client.ask('PUT', `/hosts/${host.id}/heartbeat`, {
    headers: { 'x-host-key': host.key },
    body: { version: '1', driver: 'qemu', architecture: 'x86_64', capacity: { cpus: 1, memory: 1, free_memory: 1 } },
  })
  expect((await client.asRoot(method, path, body, { prefer: 'respond-async' })).status).toBe(202)
  await until(() => expect(sent.join()).toContain('hush'))
  const written = JSON.stringify(commit.mock.calls)
  expect([written.includes('job_operation'), written.includes('hush')]).toEqual([true, false])
})
