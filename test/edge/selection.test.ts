import { expect, onTestFinished, test } from 'vitest'
import { startEdge } from '../support/workerd/edge.ts'

const exposure = {
  include: ['auth/*', 'users/*', 'openapi/*', 'machines/*'],
  exclude: ['users/delete', 'machines/clone'],
}

test('an edge that is built for a selection serves it and nothing else', async () => {
  const edge = await startEdge({ exposure })
  onTestFinished(() => edge[Symbol.asyncDispose]())
  const token = await edge.signIn()
  const status = async (method: string, path: string) => (await edge.ask(method, path, { token, body: {} })).status
  expect((await edge.ask('GET', '/v1/auth/users', { token })).status).toBe(200)
  // Forwarded: this control has no hosts yet.
  expect(await edge.ask('GET', '/v1/machines', { token })).toMatchObject({ status: 200, body: [] })
  expect(await status('PUT', '/v1/machines/any/start')).toBe(404)
  expect(await status('DELETE', '/v1/auth/users/any')).toBe(405)
  expect(await status('PUT', '/v1/machines/any/clone')).toBe(404)
  expect((await edge.ask('GET', '/v1/catalog', { token })).status).toBe(404)
  const { body } = await edge.ask('GET', '/openapi.json')
  const paths = Object.keys(body.paths)
  expect(paths).toEqual(expect.arrayContaining(['/api/v1/auth/users', '/api/v1/machines/{id}/start']))
  expect(paths.filter(path => /clone|catalog/.test(path))).toEqual([])
  expect(Object.keys(body.paths['/api/v1/auth/users/{id}'])).not.toContain('delete')
})

test('an edge serves nothing when its settings name endpoints that it is not built with', async () => {
  const edge = await startEdge({ exposure, variables: { VMHOST_ROUTES_INCLUDE: 'catalog/*' } })
  onTestFinished(() => edge[Symbol.asyncDispose]())
  expect((await edge.ask('GET', '/health/probe')).status).toBe(503)
})
