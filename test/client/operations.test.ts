import { describe, expect } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { readTable } from '#lib/client/table.ts'
import type { App } from '#lib/http/app.ts'
import { listMethodPaths } from '#lib/http/method-table.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { routes } from '#functions/routes.gen.ts'
import { test } from '../support/harness.ts'

const url = 'https://host-1.example.test:8443'
const { Request } = globalThis

/** A client whose requests go straight to the application. Its token names the claims of the caller. */
const clientOf = (app: App, token = '*') =>
  createClient({ url, token, fetch: async (asked, init) => app.fetch(new Request(asked, init), { address: '' }) })

const body = (name: string) => ({ name, cpus: 1, memory: 16, disks: [{ size: 1 }] })
const toCamelCase = (text: string): string => text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

describe('the operations', () => {
  test('are all endpoints of the routing table, where the service has them', () => {
    const rows = new Map(readTable().map(row => [`${row.area}/${row.name}`, row]))
    expect([...rows.keys()].sort()).toEqual(routes.map(({ id }) => toCamelCase(id)).sort())
    const { api } = createClient({ url })
    for (const { id, endpoint } of routes) {
      const { area, name, method, path } = rows.get(toCamelCase(id))!
      expect(Object(api)[area][name]).toBeInstanceOf(Function)
      const served = listMethodPaths(endpoint).map(([one, at]) => `${one} ${toServedPath(at)}`)
      const optional = [...path.matchAll(/\/\{\w+\?\}/g)].map(([segment]) => segment)
      const shortened = optional.map((_, at) =>
        optional.slice(at).reduce((all, segment) => all.replace(segment, ''), path),
      )
      for (const one of [path, ...shortened])
        expect(served).toContain(`${method === 'SOCKET' ? 'GET' : method} ${one.replaceAll('?', '')}`)
    }
  })

  test('send params, query and body, and give the reply', async ({ app }) => {
    const { api } = clientOf(app)
    const { id } = await api.machines.create({ body: body('one') })
    const linked = { params: { id: 'one' }, query: { linked: true }, body: { clone_name: 'two' } }
    expect(await api.machines.clone(linked)).toMatchObject({ status: 'Success' })
    await api.machines.clone({ params: { id: 'one' }, body: { clone_name: 'two & three' } })
    expect(await api.machines.start({ params: { id } })).toEqual({ id, operation: 'Start', status: 'Success' })
    expect(await api.machines.status({ params: { id: 'two & three' } })).toMatchObject({ status: 'stopped' })
    expect(await api.events.list({ query: { types: 'pdfm', limit: 10 } })).toMatchObject({
      events: expect.arrayContaining([expect.objectContaining({ message: 'VM_ADDED' })]),
    })
    expect(await api.metrics.show()).toContain('# HELP')
    expect(await api.health.probe()).toEqual({ status: 'OK' })
    await expect(api.catalog.show({ params: { catalogId: 'web' } })).rejects.toMatchObject({ status: 404 })
    await expect(
      api.catalog.show({ params: { catalogId: 'web', version: '1', architecture: 'x86_64' } }),
    ).rejects.toMatchObject({ status: 404 })
  })

  test('send their options as headers', async ({ app }) => {
    const { api } = clientOf(app)
    for (const name of ['build-1', 'build-2', 'web']) await api.machines.create({ body: body(name) })
    expect((await api.machines.list({ filter: 'name=^build-' })).map(({ Name }) => Name)).toEqual([
      'build-1',
      'build-2',
    ])
    let etag: string | null = null
    await api.machines.list({ onResponse: ({ headers }) => void (etag = headers.get('etag')) })
    expect(etag).toMatch(/^".+"$/)
    const unchanged = { headers: { 'If-None-Match': etag ?? '' } }
    await expect(api.machines.list(unchanged)).rejects.toMatchObject({ status: 304 })
    let applied: string | null = null
    const onResponse = ({ headers }: Response): void => void (applied = headers.get('preference-applied'))
    await api.machines.start({ params: { id: 'web' }, wait: 5, onResponse })
    expect(applied).toBe('wait=5')
    const params = { catalogId: 'web', version: '1', architecture: 'x86_64' }
    await expect(api.catalog.taint({ params, ifMatch: '"0"' })).rejects.toMatchObject({ status: 404 })
  })

  test('refuse parameters that lead to another path', async ({ app }) => {
    const { api } = clientOf(app)
    for (const id of ['', '.', '..'])
      await expect(api.machines.delete({ params: { id } })).rejects.toThrow('params.id is missing or not usable')
    const params = { catalogId: 'web', version: '' }
    await expect(api.catalog.delete({ params })).rejects.toThrow('params.version is missing')
    await expect(api.machines.show({ params: { id: '../jobs?x#y' } })).rejects.toMatchObject({ status: 404 })
  })

  test('run as jobs, which can be followed to their result', async ({ app }) => {
    const { api, follow } = clientOf(app)
    const { id } = await api.machines.create({ body: body('one') })
    const begun = await api.machines.start({ params: { id: 'one' }, async: true })
    expect(begun).toMatchObject({ state: 'pending', job_operation: 'start' })
    const states: string[] = []
    const { result } = await follow(begun, { onChange: ({ state }) => void states.push(state) })
    expect(result).toEqual({ id, operation: 'Start', status: 'Success' })
    expect(states.at(-1)).toBe('completed')
    const failing = await api.machines.pause({ params: { id: 'nobody' }, async: true })
    await expect(follow(failing.id)).rejects.toMatchObject({ status: 404, message: expect.stringContaining('nobody') })
  })

  test('have one effect for one Idempotency-Key', async ({ app }) => {
    const { api } = clientOf(app)
    const create = () => api.machines.create({ body: body('one'), idempotencyKey: 'k1' })
    expect(await create()).toEqual(await create())
    expect(await api.machines.list()).toHaveLength(1)
  })

  test('report what the service refuses', async ({ app }) => {
    const { api, send } = clientOf(app, 'LIST_VM')
    await expect(api.machines.create({ body: body('one') })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('CREATE_VM'),
    })
    const response = await send({ method: 'DELETE', path: '/api/v1/machines/one', query: { force: true } })
    expect(response.status).toBe(403)
  })
})

describe('events', () => {
  test('are those of the service, from the moment on at which the stream began or from a cursor', async ({ app }) => {
    const { api, events } = clientOf(app)
    await api.machines.create({ body: body('one') })
    const abort = new AbortController()
    const reader = events({ types: ['pdfm'], signal: abort.signal })
    let found: string | undefined
    const first = reader.next().then(({ value }) => (found = value.message))
    // The stream begins at some moment; what happens after it is in it.
    for (let count = 1; found === undefined; count++) await api.machines.create({ body: body(`next-${count}`) })
    expect(await first).toBe('VM_ADDED')
    const rest = events({ types: ['pdfm'], since: '00000000-1', signal: abort.signal })
    expect((await rest.next()).value).toMatchObject({ event_type: 'gap', cursor: expect.any(String) })
    expect((await rest.next()).value).toMatchObject({ message: 'VM_ADDED', body: { new_vm: { Name: 'one' } } })
    abort.abort(new Error('enough'))
    await expect(rest.next()).rejects.toThrow('enough')
  })
})
