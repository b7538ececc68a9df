import { describe, expect, test } from 'vitest'
import type { OutgoingRequest, SendOutgoing } from '#lib/platform/outgoing-request.ts'
import type { Addresses } from './fetcher.ts'

/** What everything must do that sends requests to servers which users name; the suite also runs where there is no Node. */
export const outgoingContract = (
  name: string,
  createOutgoing: (options: { readonly allowed: readonly string[] }) => SendOutgoing,
  addresses: () => Addresses,
): void => {
  const outgoing = createOutgoing({ allowed: ['127.0.0.1'] })
  const send = (path: string, request: Partial<OutgoingRequest> = {}, sender = outgoing) =>
    sender({
      method: 'GET',
      url: new URL(path, addresses().url),
      headers: {},
      signal: AbortSignal.timeout(20_000),
      maxReplyBytes: 1_000,
      ...request,
    })

  describe(`requests to other hosts: ${name}`, () => {
    test('send the method, the headers and the body, and read the reply', async () => {
      const { status, headers, body } = await send('accept', {
        method: 'PATCH',
        headers: { 'X-Api-Key': 'key', 'Content-Type': 'application/json' },
        body: '{"größe":1}',
      })
      expect(status).toBe(200)
      expect(headers['date']).toBeDefined()
      expect(JSON.parse(body.toString())).toMatchObject({
        method: 'PATCH',
        size: 13,
        headers: { 'x-api-key': 'key', 'content-type': 'application/json', accept: 'application/json' },
      })
      const { body: bare } = await send('accept')
      expect('content-type' in (JSON.parse(bare.toString()) as { headers: object }).headers).toBe(false)
    })

    test('give every status, and follow no redirect', async () => {
      const { status, headers, body } = await send('redirects')
      expect([status, headers.location, body.toString()]).toEqual([302, 'http://127.0.0.1:1/', 'away'])
      expect(await send('missing')).toMatchObject({ status: 404 })
      expect(await send('no-content')).toMatchObject({ status: 204 })
    })

    test('do not reach addresses of this host and of its networks, in whatever way a URL has them', async () => {
      const careful = createOutgoing({ allowed: [] })
      for (const host of [
        ...['127.0.0.1', '127.1', '0177.0.0.1', '0x7f.0.0.1', '2130706433', '127.0.0.1.', '①②⑦.⓪.⓪.①', '0'],
        ...['localhost', 'LOCALHOST', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
        ...['[2002:7f00:1::]', '10.0.0.1', '192.168.1.1', '169.254.169.254', '[fd00:ec2::254]', '[fe80::1]'],
      ])
        await expect(send('', { url: new URL(`http://${host}:${new URL(addresses().url).port}/`) }, careful))
          .rejects //
          .toMatchObject({ fault: 'forbidden' })
    })

    test('are errors when the reply is none', async () => {
      for (const scenario of [
        ...['a body that is cut', 'chunks that are cut', 'no HTTP', 'nothing'],
        ...['headers without end', 'another protocol'],
      ])
        await expect(send(scenario)).rejects.toMatchObject({ fault: 'upstream' })
      await expect(send('http://127.0.0.1:1111/')).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringContaining('The request to 127.0.0.1:1111 failed: '),
      })
      await expect(send('http://no-such-host.invalid/')).rejects.toMatchObject({ fault: 'upstream' })
      await expect(send(addresses().tlsUrl)).rejects.toMatchObject({ fault: 'upstream' })
    })

    test('are errors when the reply is larger than its limit', async () => {
      expect((await send('bytes/1000')).body.length).toBe(1_000)
      await expect(send('bytes/1001')).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringContaining('larger than 1000 bytes'),
      })
    })

    test('end at their time limit, or when nobody waits', async () => {
      for (const scenario of ['silent', 'half']) {
        await expect(send(scenario, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({ fault: 'timeout' })
        const controller = new AbortController()
        const asked = send(scenario, { signal: controller.signal })
        setTimeout(() => controller.abort(), 50)
        await expect(asked).rejects.toMatchObject({
          fault: 'upstream',
          message: expect.stringContaining('given up'),
        })
      }
    })
  })
}
