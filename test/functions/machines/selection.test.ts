import { describe, expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'

const create = async (call: Call, name: string, labels: Record<string, string>): Promise<void> => {
  const body = { name, memory: 64, labels }
  expect((await call('POST', '/api/v1/machines', { body })).status).toBe(201)
}
const createAll = async (call: Call): Promise<void> => {
  await create(call, 'build-1', { team: 'ci', tier: 'fast' })
  await create(call, 'build-2', { team: 'ci' })
  await create(call, 'web', { team: 'shop', tier: 'slow' })
  await create(call, 'plain', {})
}
const list = async (call: Call, query: Record<string, string>) => {
  const { status, body, headers } = await call('GET', `/api/v1/machines?${new URLSearchParams(query)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return { names: body.map((record: { Name: string }) => record.Name), body, headers }
}

describe('the list of machines', () => {
  test.for([
    ['team=ci', ['build-1', 'build-2']],
    ['team==ci,tier', ['build-1']],
    ['team=ci,!tier', ['build-2']],
    ['team!=ci', ['plain', 'web']],
    ['team in (ci, shop)', ['build-1', 'build-2', 'web']],
    ['team notin (ci),team', ['web']],
    ['tier in (fast),team in (shop)', []],
  ] as const)('selects by labels: %s', async ([labels, names], { call }) => {
    await createAll(call)
    expect((await list(call, { labels })).names).toEqual(names)
  })

  test.for(['team=', '=ci', 'team=ci,,', 'team in ci', '!team=ci', 'team in (ci', 'a b', '(', 'team==='] as const)(
    'refuses or takes literally an odd selector: %s',
    async (labels, { call }) => {
      await createAll(call)
      const { status, body } = await call('GET', `/api/v1/machines?${new URLSearchParams({ labels })}`)
      if (labels === 'team=') expect([status, body]).toEqual([200, []])
      else expect([status, body.message]).toEqual([400, expect.stringContaining('is not a selector')])
    },
  )

  test('shows the wanted members of each record, and refuses unknown ones', async ({ call }) => {
    await createAll(call)
    const { body } = await list(call, { fields: 'Name, labels,State', labels: 'tier' })
    expect(body).toEqual([
      { Name: 'build-1', State: 'stopped', labels: { team: 'ci', tier: 'fast' } },
      { Name: 'web', State: 'stopped', labels: { team: 'shop', tier: 'slow' } },
    ])
    const refused = await call('GET', '/api/v1/machines?fields=Nam')
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('did you mean Name?')])
  })

  test('comes in pages, which a Link joins', async ({ call }) => {
    await createAll(call)
    const seen: string[] = []
    let path: string | undefined = '/api/v1/machines?limit=3&fields=Name'
    while (path !== undefined) {
      const { status, body, headers } = await call('GET', path)
      expect(status).toBe(200)
      seen.push(...body.map((record: { Name: string }) => record.Name))
      path = /^<([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['build-1', 'build-2', 'plain', 'web'])
  })

  test('goes on behind a machine that is gone meanwhile', async ({ call }) => {
    await createAll(call)
    const { headers } = await list(call, { limit: '2' })
    expect((await call('DELETE', '/api/v1/machines/build-2')).status).toBe(202)
    const { body } = await call('GET', /^<([^>]*)>/.exec(headers.get('link')!)![1]!)
    expect(body.map((record: { Name: string }) => record.Name)).toEqual(['plain', 'web'])
  })

  test('answers an unchanged page with 304, and another query with another tag', async ({ call }) => {
    await createAll(call)
    const { headers } = await list(call, { limit: '2' })
    const etag = headers.get('etag')!
    const again = await call('GET', '/api/v1/machines?limit=2', { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    const other = await call('GET', '/api/v1/machines?limit=3', { headers: { 'if-none-match': etag } })
    expect(other.status).toBe(200)
  })

  test('cannot be narrowed by X-Filter and cut at the same time', async ({ call }) => {
    await createAll(call)
    const { status, body } = await call('GET', '/api/v1/machines?limit=2', { headers: { 'x-filter': 'Name=web' } })
    expect([status, body.message]).toEqual([400, expect.stringContaining('X-Filter cannot be combined')])
  })
})

describe('labels of a new machine', () => {
  test.for([{ '': 'x' }, { 'a b': 'x' }, { a: 'x y' }, { a: 'x'.repeat(64) }, { '-a': 'x' }])(
    'are refused when they have another syntax: %j',
    async (labels, { call }) => {
      const { status, body } = await call('POST', '/api/v1/machines', { body: { name: 'one', memory: 64, labels } })
      expect(status, JSON.stringify(body)).toBe(400)
      expect((await call('GET', '/api/v1/machines')).body).toEqual([])
    },
  )
})
