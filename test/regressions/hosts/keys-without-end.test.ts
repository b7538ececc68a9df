import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { readTrustedIssuers } from '#lib/compose/hosts/control-link.ts'

test('of the keys of an issuer no more is read than keys need', async () => {
  let sent = 0
  const server = createServer((_, response) => {
    const send = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 32))) sent += 65_536
    }
    response.on('drain', send)
    send()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const jwks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { fetchJson } = readTrustedIssuers({
    trusted_issuers: [{ issuer: 'a', jwks, audience: 'b', algorithm: 'RS256' }],
  })!
  await expect(fetchJson(jwks)).rejects.toThrow('larger than 262144 bytes')
  expect(sent).toBeLessThan(64 << 20)
  server.closeAllConnections()
  server.close()
})
