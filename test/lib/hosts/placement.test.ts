import { describe, expect, test } from 'vitest'
import { createFindCachingHost } from '#lib/hosts/forward/caching-host.ts'
import { rankHosts } from '#lib/hosts/forward/placement.ts'
import { ServiceError } from '#lib/errors.ts'
import { openHostTable } from '#lib/hosts/host-table.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'

const openTable = async (
  ...hosts: readonly { readonly driver?: string; readonly disk?: number; readonly memory?: number }[]
) => {
  const store = await createMemoryStore()
  const table = await openHostTable(store)
  const now = new Date().toISOString()
  for (const [at, { driver = 'qemu', disk, memory = 1 }] of hosts.entries()) {
    const id = crypto.randomUUID()
    await store.commit([
      table.hosts.put({
        id,
        name: `host-${at + 1}`,
        url: 'https://host.example.org',
        labels: {},
        drained: false,
        key_hash: '',
        unreachable_published: false,
        report: {
          version: '1',
          driver,
          architecture: 'x86_64',
          capacity: { cpus: 1, memory, free_memory: memory, ...(disk !== undefined && { free_disk: disk }) },
        },
        heard_at: Date.now(),
        created_at: now,
        updated_at: now,
      }),
    ])
    table.refresh(id)
  }
  return table
}

describe('the places of a machine', () => {
  test('are the hosts that run its type, the one with the most free memory first', async () => {
    const table = await openTable({ driver: 'embedded', memory: 9 }, { memory: 2 }, { memory: 3 })
    expect(rankHosts(table, { machineType: 'qemu' }).map(({ name }) => name)).toEqual(['host-3', 'host-2'])
    expect(() => rankHosts(table, { machineType: 'macvm' })).toThrow('none runs machines of the type macvm')
  })

  test('are the hosts with room for it; one that does not say how much it has may have it', async () => {
    const table = await openTable({ disk: 9, memory: 3 }, { disk: 20, memory: 2 }, {})
    expect(rankHosts(table, { disk: 10 }).map(({ name }) => name)).toEqual(['host-2', 'host-3'])
    const full = await openTable({ disk: 9 })
    expect(() => rankHosts(full, { disk: 10 })).toThrow('none has 10 MB of free disk space')
  })
})

describe('a host with a pack in its cache', () => {
  const user = { id: 'u', username: 'u', email: '', roles: [], claims: new Set(['PULL']), superUser: false }
  const cache = [{ cache_file_name: 'other' }, { cache_file_name: 'wanted' }]

  test('is the first one that says so; those that refuse, fail or say something else have none', async () => {
    const table = await openTable({}, {}, {}, {}, {})
    const replies: Record<string, unknown> = { 'host-2': 'wanted', 'host-3': cache, 'host-5': cache }
    const find = createFindCachingHost(async ({ name }, asker) => {
      expect([...asker.claims]).toEqual(['PULL', 'LIST_CACHE'])
      if (name === 'host-1') throw new ServiceError('unavailable', 'down')
      return { status: name === 'host-4' ? 403 : 200, headers: new Headers(), body: replies[name] }
    })
    const { signal } = new AbortController()
    expect((await find(table.list(), 'wanted', user, signal))?.name).toBe('host-3')
    expect(await find(table.list(), 'nothing', user, signal)).toBeUndefined()
    expect(await find([], 'wanted', user, signal)).toBeUndefined()
  })
})
