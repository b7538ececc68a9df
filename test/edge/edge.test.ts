import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd, type Workerd } from '#build/workerd.ts'

describe('the edge bundle in workerd', () => {
  let worker: Workerd
  beforeAll(async () => {
    worker = await startWorkerd({ ...edgeSettings, durableObjects: {}, entrypoints: {} })
  })
  afterAll(() => worker[Symbol.asyncDispose]())

  const ask = async (path: string, init: { method?: string; body?: string } = {}) => {
    const response = await fetch(worker.url + path, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  test('answers the health probe and describes exactly the routes that it serves', async () => {
    expect(await ask('/api/health/probe')).toEqual({ status: 200, body: { status: 'OK' } })
    const { body } = await ask('/api/openapi.json')
    expect(Object.keys(body['paths'] as object).sort()).toEqual(['/api/health/probe', '/api/openapi.json'])
    expect(await ask('/api/v1/machines')).toMatchObject({ status: 404, body: { code: 404 } })
  })

  test('validates no tokens, because it cannot know which were signed out', async () => {
    const asked = { method: 'POST', body: '{"token":"eyJhbGciOiJSUzI1NiJ9.e30.x"}' }
    expect(await ask('/api/v1/auth/token/validate', asked)).toMatchObject({ status: 404 })
    expect(await ask('/api/v1/auth/token/validate')).toMatchObject({ status: 404 })
  })
})
