import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient } from '#lib/client/client.ts'

let servers: readonly Server[]
let url: string
/** What another server has got. */
const leaked: string[] = []
beforeEach(async () => {
  leaked.length = 0
  const other = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    leaked.push(`${String(request.headers['x-api-key'])} ${body}`)
    response.setHeader('Content-Type', 'application/json')
    response.end('[]')
  })
  const service = createServer((_, response) => {
    const { port } = other.address() as AddressInfo
    response.writeHead(307, { Location: `http://127.0.0.1:${port}/api/v1/elsewhere` })
    response.end()
  })
  servers = [other, service]
  for (const server of servers) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
})
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

test.each([
  ['an API key', { apiKey: 'secret' }],
  ['a password', { signIn: { username: 'alice', password: 'secret' } }],
])('%s is not sent to where a reply leads', async (_, credentials) => {
  const { api } = createClient({ url, ...credentials })
  await expect(api.machines.list()).rejects.toMatchObject({ status: 307 })
  expect(leaked).toEqual([])
})
