import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../support/service.ts'

const start = (state: string, env: Readonly<Record<string, string>> = {}) =>
  startService({
    state,
    env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off', ...env },
  })

test('the API reference is a page that loads nothing from elsewhere, and that browsers confine', async () => {
  using state = newState()
  const service = await start(state.path)
  const page = await fetch(`${service.url}/docs/api`)
  expect(page.status).toBe(200)
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': expect.stringMatching(/default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/),
  })
  const html = await page.text()
  expect(html).not.toMatch(/<script(?![^>]* src=)|\son\w+=|https?:/)
  const named = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(match => match[1]!)
  expect(named).toHaveLength(2)
  let size = 0
  for (const path of named) {
    const file = await fetch(service.url + path)
    expect([path, file.status]).toEqual([path, 200])
    size += Number(file.headers.get('content-length'))
    expect(await file.text()).not.toMatch(/@import|\beval\(|new Function\(/)
  }
  expect(size).toBeLessThan(30_000)
  await service.stop()
})

test('a service without its description has no API reference', async () => {
  using state = newState()
  const service = await start(state.path, { VMHOST_ROUTES_EXCLUDE: 'openapi/*' })
  expect((await fetch(`${service.url}/docs/api`)).status).toBe(404)
  await service.stop()
})
