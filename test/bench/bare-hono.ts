/** The floor of the probe and of the validation of tokens: hono on node:http, with the replies of the service. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'

const headers = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Request-Id': crypto.randomUUID(),
}
const app = new Hono()
app.get('/api/health/probe', () => new Response(JSON.stringify({ status: 'OK' }), { headers }))
app.post('/api/v1/auth/token/validate', async ({ req }) => {
  const { token } = await req.json<{ token: string }>()
  return new Response(JSON.stringify({ valid: token.length > 0 }), { headers })
})

const server = createServer(getRequestListener(app.fetch))
server.listen(0, '127.0.0.1', () => process.stdout.write(`bare serves ${(server.address() as AddressInfo).port}\n`))
