import type { LookupAddress } from 'node:dns'
import { expect, test, vi } from 'vitest'
import { createFetcher } from '#lib/objects/http/send.ts'

const found = vi.hoisted(() => ({ addresses: [] as LookupAddress[] }))
vi.mock('node:dns', () => ({
  lookup: (_host: string, _options: object, done: (error: null, addresses: LookupAddress[]) => void) =>
    done(null, found.addresses),
}))

const ask = { method: 'GET', url: new URL('http://storage.example.test:9'), headers: {} }

test.each(['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '::ffff:169.254.169.254'])(
  'a name that resolves to %s, a metadata service of a cloud, is refused',
  async address => {
    found.addresses = [{ address, family: address.includes(':') ? 6 : 4 }]
    await expect(createFetcher()(ask)).rejects.toMatchObject({
      fault: 'forbidden',
      message: expect.stringContaining('storage.example.test'),
    })
  },
)

test('a name that resolves to a private address is allowed', async () => {
  found.addresses = [
    { address: '169.254.169.254', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ]
  await expect(createFetcher()(ask)).rejects.toMatchObject({
    fault: 'upstream',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})
