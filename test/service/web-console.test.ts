import { describe, expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../support/service.ts'

describe('the web console', () => {
  test('is one page with its files, which browsers confine', async () => {
    using state = newState()
    const service = await startService({
      state: state.path,
      env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off' },
    })
    const get = (path: string, headers: Record<string, string> = {}) => fetch(service.url + path, { headers })
    const page = await get('/')
    expect(page.status).toBe(200)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(
        /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
      ),
    })
    const html = await page.text()
    expect(html).not.toMatch(/<script(?![^>]* src=)|\son\w+=|https?:/)

    const named = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(match => match[1]!)
    expect(named).toHaveLength(3)
    let size = html.length
    for (const path of named) {
      const file = await get(path)
      expect(file.status, path).toBe(200)
      expect(file.headers.get('cache-control')).toContain('immutable')
      size += Number(file.headers.get('content-length'))
      // One who takes no compression gets the same.
      const plain = await get(path, { 'accept-encoding': 'identity' })
      expect(plain.headers.get('content-encoding')).toBe(null)
      expect(await plain.text()).toBe(await file.text())
    }
    expect(size).toBeLessThan(150_000)

    const etag = page.headers.get('etag')!
    expect((await get('/', { 'if-none-match': etag })).status).toBe(304)
    expect((await get('/assets/gone.js')).status).toBe(404)
    expect((await fetch(`${service.url}/`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${service.url}/`, { method: 'POST' })).status).toBe(404)
    await service.stop()
  })
})
