import { expect, test } from 'vitest'
import { openListener } from '#lib/listener/listener.ts'
import { createSelfSigned } from '#lib/platform/self-signed.ts'

test('a plain HTTP request to the HTTPS port is answered with a hint, and other connections work', async () => {
  const listener = await openListener({
    address: new URL('https://127.0.0.1:0'),
    tls: await createSelfSigned(['127.0.0.1']),
    clientAddress: peer => peer,
    fetch: () => Response.json({}),
    upgrade: async () => new Response(null, { status: 404 }),
    isWebSocket: () => false,
    direct: () => undefined,
  })
  const plain = listener.url.replace('https:', 'http:')
  for (const _ of ['once', 'again']) {
    const answer = await fetch(plain)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({
      code: 400,
      message: 'This port speaks HTTPS: begin the address with https://.',
    })
  }
  await listener.close()
})
